"""A stand-in for the package onnxruntime, which Debian does not have: the part of its interface that mfc's Python files use,
over the C library of ONNX Runtime that comes with the npm package. MFC_ORT_LIBRARY names that library.

What is tested with it is mfc's side and ONNX Runtime's numbers and memory; not the bindings of the real package."""
import ctypes
import os
from ctypes import POINTER, byref, c_char_p, c_int, c_int64, c_size_t, c_void_p

import numpy as np

# Places in the table of functions, which only grows at its end.
API_VERSION = 14
GET_ERROR_MESSAGE, CREATE_ENV, CREATE_SESSION, RUN, CREATE_OPTIONS = 2, 3, 7, 9, 10
DISABLE_PATTERN, DISABLE_ARENA, SET_SEVERITY, SET_LEVEL, SET_THREADS = 17, 19, 22, 23, 24
COUNTS, TYPES, NAMES = (30, 31), (33, 34), (36, 37)  # of inputs, of outputs
CREATE_TENSOR, GET_DATA, TO_TENSOR_TYPE, GET_ELEMENT_TYPE, GET_RANK, GET_DIMS, GET_SHAPE = 49, 51, 55, 60, 61, 62, 65
CPU_MEMORY, DEFAULT_ALLOCATOR, RELEASE_SESSION, RELEASE_VALUE, RELEASE_TYPE, RELEASE_SHAPE = 69, 78, 95, 96, 98, 99

ELEMENTS = {1: ("float", np.float32), 2: ("uint8", np.uint8), 3: ("int8", np.int8), 6: ("int32", np.int32),
            7: ("int64", np.int64), 9: ("bool", np.bool_), 10: ("float16", np.float16), 11: ("double", np.float64)}
NUMBERS = {np.dtype(kind): number for number, (_, kind) in ELEMENTS.items()}


class _Base(ctypes.Structure):
    _fields_ = [("get_api", ctypes.CFUNCTYPE(POINTER(c_void_p), ctypes.c_uint32)), ("version", c_void_p)]


_library = ctypes.CDLL(os.environ["MFC_ORT_LIBRARY"])
_library.OrtGetApiBase.restype = POINTER(_Base)
_api = _library.OrtGetApiBase().contents.get_api(API_VERSION)


def _call(place, *arguments):
    """Calls a function that returns an error or NULL."""
    error = ctypes.CFUNCTYPE(c_void_p, *(type(a) if isinstance(a, ctypes._SimpleCData) else c_void_p
                                         for a in arguments))(_api[place])(*arguments)
    if error:
        message = ctypes.CFUNCTYPE(c_char_p, c_void_p)(_api[GET_ERROR_MESSAGE])(error)
        raise RuntimeError(message.decode())


def _release(place, handle):
    ctypes.CFUNCTYPE(None, c_void_p)(_api[place])(handle)


def _new(place, *arguments):
    out = c_void_p()
    _call(place, *arguments, byref(out))
    return out


_env = _new(CREATE_ENV, c_int(3), c_char_p(b"stand-in"))
_memory = _new(CPU_MEMORY, c_int(1), c_int(0))
_allocator = _new(DEFAULT_ALLOCATOR)


class GraphOptimizationLevel:
    ORT_DISABLE_ALL, ORT_ENABLE_BASIC, ORT_ENABLE_EXTENDED, ORT_ENABLE_ALL = 0, 1, 2, 99


class SessionOptions:
    def __init__(self):
        self.graph_optimization_level = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.intra_op_num_threads, self.log_severity_level = 0, 2
        self.enable_cpu_mem_arena = self.enable_mem_pattern = True


class NodeArg:
    def __init__(self, name, kind, shape):
        self.name, self.type, self.shape = name, kind, shape


def _shape(info):
    element, rank = c_int(), c_size_t()
    _call(GET_ELEMENT_TYPE, info, byref(element))
    _call(GET_RANK, info, byref(rank))
    dims = (c_int64 * max(rank.value, 1))()
    _call(GET_DIMS, info, dims, rank)
    return ELEMENTS[element.value], list(dims[:rank.value])


class InferenceSession:
    def __init__(self, path, sess_options=None, providers=None):
        del providers
        o, options = sess_options or SessionOptions(), _new(CREATE_OPTIONS)
        _call(SET_LEVEL, options, c_int(o.graph_optimization_level))
        _call(SET_SEVERITY, options, c_int(o.log_severity_level))
        _call(SET_THREADS, options, c_int(o.intra_op_num_threads))
        if not o.enable_cpu_mem_arena:
            _call(DISABLE_ARENA, options)
        if not o.enable_mem_pattern:
            _call(DISABLE_PATTERN, options)
        self.handle = _new(CREATE_SESSION, _env, c_char_p(os.fsencode(path)), options)
        self.sides = [self._arguments(side) for side in (0, 1)]

    def __del__(self):
        if hasattr(self, "handle"):
            _release(RELEASE_SESSION, self.handle)

    def _arguments(self, side):
        count, found = c_size_t(), []
        _call(COUNTS[side], self.handle, byref(count))
        for i in range(count.value):
            name = c_char_p()
            _call(NAMES[side], self.handle, c_size_t(i), _allocator, byref(name))
            kind = _new(TYPES[side], self.handle, c_size_t(i))
            (element, _), dims = _shape(_new(TO_TENSOR_TYPE, kind))
            _release(RELEASE_TYPE, kind)
            found.append(NodeArg(name.value.decode(), f"tensor({element})", dims))
        return found

    def get_inputs(self):
        return self.sides[0]

    def get_outputs(self):
        return self.sides[1]

    def run(self, names, feeds):
        names = names or [o.name for o in self.sides[1]]
        arrays = [np.asarray(a, order="C") for a in feeds.values()]
        inputs = (c_void_p * len(arrays))()
        for i, a in enumerate(arrays):
            dims = (c_int64 * max(a.ndim, 1))(*a.shape)
            inputs[i] = _new(CREATE_TENSOR, _memory, c_void_p(a.ctypes.data), c_size_t(a.nbytes), dims, c_size_t(a.ndim),
                             c_int(NUMBERS[a.dtype])).value
        outputs = (c_void_p * len(names))()
        _call(RUN, self.handle, c_void_p(), (c_char_p * len(arrays))(*(n.encode() for n in feeds)), inputs,
              c_size_t(len(arrays)), (c_char_p * len(names))(*(n.encode() for n in names)), c_size_t(len(names)), outputs)
        for value in inputs:
            _release(RELEASE_VALUE, value)
        return [self._take(c_void_p(value)) for value in outputs]

    @staticmethod
    def _take(value):
        info = _new(GET_SHAPE, value)
        (_, kind), dims = _shape(info)
        _release(RELEASE_SHAPE, info)
        at = _new(GET_DATA, value)
        n_bytes = int(np.prod(dims, dtype=np.int64)) * np.dtype(kind).itemsize
        array = np.frombuffer(ctypes.string_at(at, n_bytes), kind).reshape(dims).copy()
        _release(RELEASE_VALUE, value)
        return array
