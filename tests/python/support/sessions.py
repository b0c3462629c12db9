"""Sessions with the calls of ONNX Runtime, as tests make them."""

import collage


def quiet_options():
    options = collage.SessionOptions()
    options.intra_op_num_threads = 1
    return options


def session_of(model, **options):
    return collage.InferenceSession(model, quiet_options(), ["CPUExecutionProvider"], **options)
