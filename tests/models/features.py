"""Writes the models of this folder that hold, between them, every message and field of the ONNX
format, for round trips. What Debian's python3-onnx (IR version 8) does not know yet is put in by its
field numbers.

    /usr/bin/python3 tests/models/features.py
"""
import os

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h

HERE = os.path.dirname(os.path.abspath(__file__))


def varint(x):
    out = b""
    while x >= 0x80:
        out += bytes([x & 0x7F | 0x80])
        x >>= 7
    return out + bytes([x])


def field(number, content):
    """One field in wire format: an integer, or bytes, or text."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content & (1 << 64) - 1)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def add(message, *fields):
    """Fields that the classes do not know."""
    message.MergeFromString(b"".join(field(n, c) for n, c in fields))


def pair(key, value):
    return field(1, key) + field(2, value)


FUTURE = ((1000, 5), (1001, b"from a later version"), (536870911, b"\xff\x00"))


def save(name, model):
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(model.SerializeToString(deterministic=True))


def f32(name, shape=(2,)):
    return h.make_tensor_value_info(name, T.FLOAT, shape)


def model(graph, ir=8, opset=17, **rest):
    m = h.make_model(graph, opset_imports=[h.make_opsetid("", opset)], **rest)
    m.ir_version = ir
    return m


def payloads():
    """Every element type in every form that it may take, as initializers and in attributes."""
    ints = [T.INT8, T.UINT8, T.INT16, T.UINT16, T.INT32, T.BOOL]
    tensors = []
    for kind in ints:
        tensors.append(h.make_tensor(f"ints{kind}", kind, [2, 2], [0, 1, 1, 0]))
        tensors.append(h.make_tensor(f"raw{kind}", kind, [3], np.ones(
            3, onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[kind]).tobytes(), raw=True))
    tensors += [
        h.make_tensor("negative", T.INT32, [3], [-1, -2 ** 31, 2 ** 31 - 1]),
        h.make_tensor("int64", T.INT64, [3], [-1, 2 ** 63 - 1, -2 ** 63]),
        h.make_tensor("uint64", T.UINT64, [2], [0, 2 ** 64 - 1]),
        h.make_tensor("uint32", T.UINT32, [2], [0, 2 ** 32 - 1]),
        h.make_tensor("float", T.FLOAT, [4], [0.0, -0.0, float("nan"), float("-inf")]),
        h.make_tensor("double", T.DOUBLE, [2], [1e300, -0.0]),
        h.make_tensor("half", T.FLOAT16, [2], [1.5, 65504.0]),
        h.make_tensor("bfloat", T.BFLOAT16, [2], [1.5, -2.0]),
        h.make_tensor("complex", T.COMPLEX64, [2], [1 + 2j, -3j]),
        h.make_tensor("complex128", T.COMPLEX128, [1], [1 + 2j]),
        h.make_tensor("strings", T.STRING, [3], [b"one", b"", b"\xff\x00 bytes"]),
        h.make_tensor("scalar", T.FLOAT, [], [3.0]),
        h.make_tensor("empty", T.FLOAT, [0, 7], []),
        h.make_tensor("empty_raw", T.FLOAT, [0], b"", raw=True),
        h.make_tensor("large", T.FLOAT, [40, 50], np.arange(2000, dtype="<f4").tobytes(), raw=True),
        h.make_tensor("large_list", T.FLOAT, [600], list(range(600))),
        h.make_tensor("large_ints", T.INT64, [600], list(range(-300, 300))),
    ]
    for number, bits, kind in ((17, 8, "f8"), (21, 4, "u4"), (22, 4, "i4"), (23, 4, "f4"),
                               (24, 8, "e8"), (25, 2, "u2"), (26, 2, "i2")):
        t = T(name=kind, dims=[5], data_type=number, raw_data=b"\x12" * ((5 * bits + 7) // 8))
        tensors.append(t)
        packed = T(name=kind + "_ints", dims=[5], data_type=number,
                   int32_data=[7] * ((5 * bits + 7) // 8))
        tensors.append(packed)
    segment = h.make_tensor("segment", T.FLOAT, [2], [1, 2])
    segment.segment.begin, segment.segment.end = 0, 2
    add(segment.segment, *FUTURE)
    segment.doc_string = "one piece"
    add(segment, (16, pair("made", "by hand")), *FUTURE)
    tensors.append(segment)
    away = T(name="away", dims=[1000], data_type=T.FLOAT, data_location=T.EXTERNAL)
    for key, value in (("location", "features.weights"), ("offset", "4096"), ("length", "4000"),
                       ("checksum", "0" * 40)):
        add(away.external_data.add(key=key, value=value), *FUTURE)
    tensors.append(away)
    graph = h.make_graph(
        [h.make_node("Constant", [], ["c"], value=tensors[0]),
         h.make_node("Constant", [], ["s"], value_strings=[b"", b"\xfe"]),
         h.make_node("Identity", ["x"], ["y"])],
        "payloads", [f32("x")], [f32("y")], tensors)
    return model(graph, ir=13)


def control():
    """Subgraphs two deep that read values of every level, and lists of subgraphs."""
    def constant(name, value, kind=T.INT64):
        return h.make_node("Constant", [], [name], value=h.make_tensor(name, kind, [], [value]))

    inner = h.make_graph([h.make_node("Add", ["x", "state"], ["s1"]),
                          h.make_node("Mul", ["s1", "weight"], ["s2"])],
                         "inner", [], [f32("s2")])
    other = h.make_graph([h.make_node("Identity", ["state"], ["s3"])], "other", [], [f32("s3")],
                         [h.make_tensor("local", T.FLOAT, [1], [1])])
    body = h.make_graph(
        [h.make_node("If", ["going"], ["next"], then_branch=inner, else_branch=other),
         h.make_node("Identity", ["going"], ["still"]), h.make_node("Identity", ["next"], ["scan"])],
        "body",
        [h.make_tensor_value_info("i", T.INT64, []), h.make_tensor_value_info("going", T.BOOL, []),
         f32("state")],
        [h.make_tensor_value_info("still", T.BOOL, []), f32("next"), f32("scan")],
        doc_string="runs while going", value_info=[])
    many = h.make_node("Many", ["x"], ["", "z"], domain="my.domain")
    many.attribute.append(h.make_attribute("graphs", [inner_copy("a"), inner_copy("b")]))
    graph = h.make_graph(
        [constant("n", 5), constant("yes", 1, T.BOOL),
         h.make_node("Loop", ["n", "yes", "x"], ["last", "all"], body=body, name="loop"),
         h.make_node("Clip", ["last", "", "high"], ["y"]), many],
        "control", [f32("x")], [f32("y"), f32("all", (None, 2)), f32("z", ("N", None))],
        [h.make_tensor("weight", T.FLOAT, [2], [1, 2]), h.make_tensor("high", T.FLOAT, [], [6])])
    m = model(graph, ir=7)
    m.opset_import.append(h.make_opsetid("my.domain", 1))
    return m


def inner_copy(tag):
    return h.make_graph([h.make_node("Neg", ["x"], [tag])], tag, [], [f32(tag)])


def functions():
    """Functions that call one another, with parameters, defaults, overloads, declared types."""
    scale = h.make_function(
        "my.functions", "Scale", ["a"], ["b"],
        [h.make_node("Constant", [], ["k"]), h.make_node("Mul", ["a", "k"], ["b"])],
        [h.make_opsetid("", 17)], ["by"])
    ref = scale.node[0].attribute.add(name="value_float", ref_attr_name="by", type=1)
    ref.doc_string = "the caller's"
    twice = h.make_function(
        "my.functions", "Twice", ["a"], ["b"],
        [h.make_node("Scale", ["a"], ["c"], domain="my.functions", by=2.0),
         h.make_node("Scale", ["c"], ["b"], domain="my.functions", by=0.5)],
        [h.make_opsetid("", 17), h.make_opsetid("my.functions", 1)])
    twice.doc_string = "there and back"
    default = onnx.AttributeProto(name="alpha", type=1, f=0.25)
    info = f32("c")
    add(twice, (11, default.SerializeToString()), (12, info.SerializeToString()), (13, "second"),
        (14, pair("kind", "example")), *FUTURE)
    call = h.make_node("Twice", ["x"], ["y"], domain="my.functions", name="call")
    add(call, (8, "second"))
    graph = h.make_graph([call], "functions", [f32("x")], [f32("y")])
    m = h.make_model(graph, opset_imports=[h.make_opsetid("", 17), h.make_opsetid("my.functions", 1)],
                     functions=[scale, twice])
    m.ir_version = 10
    return m


def types():
    """Every kind of type, nested, with symbols and denotations; attributes of every kind."""
    tp = h.make_tensor_type_proto(T.FLOAT, ["batch", 3, None])
    tp.denotation = "IMAGE"
    tp.tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    tp.tensor_type.shape.dim[2].denotation = "DATA_FEATURE"
    for part in (tp, tp.tensor_type, tp.tensor_type.shape, tp.tensor_type.shape.dim[1]):
        add(part, *FUTURE)
    mapped = onnx.TypeProto()
    mapped.map_type.key_type = T.INT64
    mapped.map_type.value_type.CopyFrom(h.make_sequence_type_proto(tp))
    sparse = h.make_sparse_tensor_type_proto(T.DOUBLE, [5, None])
    opaque = onnx.TypeProto(denotation="SECRET")
    opaque.opaque_type.domain, opaque.opaque_type.name = "my.domain", "Handle"
    for part in (mapped.map_type, mapped.map_type.value_type.sequence_type, sparse.sparse_tensor_type,
                 sparse.sparse_tensor_type.shape, opaque.opaque_type):
        add(part, *FUTURE)
    unranked = h.make_tensor_type_proto(T.STRING, None)
    nothing = onnx.TypeProto(denotation="UNKNOWN")
    inputs = [h.make_value_info(n, t, doc_string=f"a {n}") for n, t in (
        ("image", tp), ("map", mapped), ("sparse", sparse), ("opaque", opaque),
        ("maybe", h.make_optional_type_proto(mapped)), ("words", unranked), ("nothing", nothing),
        ("half", h.make_tensor_type_proto(T.BFLOAT16, [])))]
    inputs.append(onnx.ValueInfoProto(name="untyped"))
    values = h.make_tensor("v", T.FLOAT, [2], [1, 2])
    where = h.make_tensor("", T.INT64, [2], [1, 4])
    node = h.make_node("Everything", [i.name for i in inputs], ["y"], domain="my.domain", name="all",
                       doc_string="one of each")
    attribute = h.make_attribute
    node.attribute.extend([
        attribute("float", -0.0), attribute("int", -2 ** 63), attribute("string", b"\xff\x00"),
        attribute("tensor", values), attribute("floats", [1.5, float("inf")]),
        attribute("ints", [1, -1, 300]), attribute("strings", ["a", ""]),
        attribute("tensors", [values, where]),
        attribute("sparse", h.make_sparse_tensor(values, where, [6])),
        attribute("sparses", [h.make_sparse_tensor(values, where, [6])]),
        attribute("type", tp), attribute("types", [mapped, opaque]),
        onnx.AttributeProto(name="no_ints", type=onnx.AttributeProto.INTS)])
    node.attribute[0].doc_string = "zero, from below"
    add(node.attribute[1], *FUTURE)
    graph = h.make_graph([node], "types", inputs, [onnx.ValueInfoProto(name="y")])
    return model(graph)


def surroundings():
    """All that a model may carry beside its graph: training, quantization, sparse weights, devices,
    metadata, and fields of later versions in every message that a file is likely to extend."""
    x, hidden = f32("x"), f32("hidden")
    for info in (x, hidden):
        info.doc_string = "documented"
        add(info, (4, pair("from", "sensor")), *FUTURE)
    first = h.make_node("MatMul", ["x", "w"], ["hidden"], name="first")
    stage = (field(1, "two cards") + field(2, field(1, "w") + field(2, -1) + field(
        3, field(1, -1) + field(2, 0) + field(2, 1)) + field(4, field(1, 1) + field(
            2, field(1, 4) + field(3, 2)))) + field(3, 1))
    add(first, (9, pair("layer", "1")), (9, pair("layer", "one")), (10, stage), (10, stage), *FUTURE)
    second = h.make_node("Relu", ["hidden"], ["y"], name="", doc_string="")
    weights = h.make_tensor("w", T.FLOAT, [2], [1, 2])
    thin = h.make_sparse_tensor(h.make_tensor("thin", T.FLOAT, [1], [9]),
                                h.make_tensor("where", T.INT64, [1], [3]), [10])
    add(thin, *FUTURE)
    graph = h.make_graph([first, second], "surroundings", [x], [f32("y")], [weights],
                         doc_string="a graph", value_info=[hidden], sparse_initializer=[thin])
    note = graph.quantization_annotation.add(tensor_name="hidden")
    note.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="w")
    add(note, *FUTURE)
    add(graph, (16, pair("team", "vision")), *FUTURE)
    m = model(graph, ir=11, producer_name="by hand", producer_version="1.0", domain="org.example",
              model_version=7, doc_string="a model")
    h.set_model_props(m, {"author": "somebody", "licence": "any"})
    add(m.metadata_props[1], *FUTURE)
    add(m.opset_import[0], *FUTURE)
    start = h.make_graph([h.make_node("RandomNormal", [], ["w0"], shape=[2])], "start", [], [f32("w0")])
    step = h.make_graph([h.make_node("Gradient", ["x"], ["g"], domain="ai.onnx.preview.training",
                                     xs=["w"], y="y")], "step", [], [f32("g")])
    for _ in range(2):
        training = m.training_info.add()
        training.initialization.CopyFrom(start)
        training.algorithm.CopyFrom(step)
        training.initialization_binding.add(key="w", value="w0")
        training.update_binding.add(key="w", value="g")
        add(training, *FUTURE)
    add(m, (26, field(1, "two cards") + field(2, 2) + field(3, "gpu0") + field(3, "gpu1")), *FUTURE)
    return m


def old():
    """IR version 3: initializers are inputs, attributes have no type, domains are spelled out."""
    w = h.make_tensor("w", T.FLOAT, [2], [1, 2])
    node = h.make_node("LeakyRelu", ["s"], ["y"], domain="ai.onnx", alpha=0.5)
    graph = h.make_graph([h.make_node("Add", ["x", "w"], ["s"]), node], "old", [f32("x"), f32("w")],
                         [f32("y")], [w])
    m = model(graph, ir=3, opset=7)
    m.opset_import.append(h.make_opsetid("ai.onnx.ml", 1))
    return m


def unsorted():
    """Nodes in an order in which they cannot run."""
    names = ["x"] + [f"v{i}" for i in range(9)] + ["y"]
    nodes = [h.make_node("Neg", [a], [b], name=b) for a, b in zip(names, names[1:])]
    graph = h.make_graph(nodes[5:] + nodes[4::-1], "unsorted", [f32("x")], [f32("y")])
    return model(graph)


if __name__ == "__main__":
    for make in (payloads, control, functions, types, surroundings, old, unsorted):
        save(f"{make.__name__}.onnx", make())
