"""Makes losses.json, the numbers that losses.mjs compares with: values and gradients of losses by PyTorch in float64.

    make_losses.py > losses.json        (with Debian's python3-torch)
"""
import json
import sys

import torch
from torch.nn import functional as F

torch.manual_seed(7)


def case(name, loss, options, x, feeds, compute):
    x = x.double().requires_grad_()
    value = compute(x)
    value.backward()
    one = {'name': name, 'loss': loss, 'options': options, 'shape': list(x.shape), 'x': x.detach().flatten().tolist(),
           'feeds': {k: {'shape': list(t.shape), 'integer': not t.is_floating_point(), 'data': t.flatten().tolist()}
                     for k, t in feeds.items()},
           'value': value.item(), 'grad': x.grad.flatten().tolist()}
    return json.dumps(one)


def ctc(name, options, x, labels, compute_axes, blank=0):
    lengths = (labels != blank).sum(1)

    def compute(x):
        logp = x.permute(compute_axes).log_softmax(2)
        steps = torch.full((labels.shape[0],), logp.shape[0], dtype=torch.long)
        return F.ctc_loss(logp, labels, steps, lengths, blank=blank, zero_infinity=True)
    return case(name, 'ctc', options, x, {'labels': labels}, compute)


def main():
    cases = []
    # Repeated labels, no labels at all, and labels that do not fit into the steps.
    labels = torch.tensor([[1, 2, 2], [3, 0, 0], [0, 0, 0]])
    cases.append(ctc('ctc [T,N,C]', ['--time-axis', '0', '--label-length', '3'], 2 * torch.randn(6, 3, 4), labels, (0, 1, 2)))
    cases.append(ctc('ctc [N,T,C], blank 3', ['--time-axis', '1', '--label-length', '2', '--blank', '3'], torch.randn(2, 5, 4),
                     torch.tensor([[0, 1], [2, 3]]), (1, 0, 2), blank=3))
    cases.append(ctc('ctc [N,C,T]', ['--class-axis', '1', '--time-axis', '2'], torch.randn(2, 4, 4), torch.tensor([[1, 2], [3, 3]]), (2, 0, 1)))
    cases.append(ctc('ctc that does not fit', ['--time-axis', '0', '--label-length', '3'], torch.randn(3, 2, 4),
                     torch.tensor([[1, 1, 1], [1, 2, 3]]), (0, 1, 2)))
    x, target = 2 * torch.randn(3, 5), 2 * torch.randn(3, 5).double()
    for name, f in [('mse', F.mse_loss), ('l1', F.l1_loss), ('huber', F.huber_loss)]:
        cases.append(case(name, name, [], x, {'target': target}, lambda x, f=f: f(x, target)))
    cases.append(case('cosine', 'cosine', [], x, {'target': target}, lambda x: 1 - F.cosine_similarity(x, target, dim=1).mean()))
    cases.append(case('cosine, axis 0', 'cosine', ['--class-axis', '0'], x, {'target': target},
                      lambda x: 1 - F.cosine_similarity(x, target, dim=0).mean()))
    ones = torch.rand(3, 5).double()
    cases.append(case('bce-logits', 'bce-logits', [], x, {'target': ones}, lambda x: F.binary_cross_entropy_with_logits(x, ones)))
    y, classes = torch.randn(2, 3, 4), torch.tensor([[1, 0, 3], [2, 2, 1]])
    cases.append(case('cross-entropy, last axis', 'cross-entropy', ['--class-axis', '-1'], y, {'labels': classes},
                      lambda x: F.cross_entropy(x.transpose(1, 2), classes)))
    seconds = torch.tensor([[1, 0, 2, 1], [0, 2, 2, 1]])
    cases.append(case('cross-entropy, second axis', 'cross-entropy', [], y, {'labels': seconds}, lambda x: F.cross_entropy(x, seconds)))
    sys.stdout.write('[\n' + ',\n'.join(cases) + '\n]\n')


main()
