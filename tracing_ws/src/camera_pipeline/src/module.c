// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// camera_pipeline._capture: a pipeline whose buffers Python can hold without copying their pixels.
// Everything that waits releases the GIL.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <structmember.h>

#include "capture.h"

static PyObject* capture_error;

// Raises CaptureError(message, code, debug) of a failure, which it clears.
static PyObject* raise_failure(struct failure* failure) {
  PyObject* arguments = Py_BuildValue("(zzz)", failure->message, failure->code, failure->debug);
  if (arguments != NULL) {
    PyErr_SetObject(capture_error, arguments);
    Py_DECREF(arguments);
  }
  failure_clear(failure);
  return NULL;
}

typedef struct {
  PyObject_HEAD struct frame frame;
} Frame;

static void frame_dealloc(Frame* self) {
  PyTypeObject* type = Py_TYPE(self);
  if (self->frame.sample != NULL) {
    frame_release(&self->frame);
  }
  type->tp_free((PyObject*)self);
  Py_DECREF(type);
}

static int frame_getbuffer(Frame* self, Py_buffer* view, int flags) {
  return PyBuffer_FillInfo(view, (PyObject*)self, (void*)self->frame.data,
                           (Py_ssize_t)self->frame.size, 1, flags);
}

static Py_ssize_t frame_length(Frame* self) { return (Py_ssize_t)self->frame.size; }

#define FRAME_MEMBER(name, type, text) \
  {#name, type, offsetof(Frame, frame) + offsetof(struct frame, name), READONLY, text}

static PyMemberDef frame_members[] = {
    FRAME_MEMBER(width, T_INT, "pixels of a row"),
    FRAME_MEMBER(height, T_INT, "rows"),
    FRAME_MEMBER(step, T_INT, "bytes of a row; 0 of a compressed image"),
    FRAME_MEMBER(pts_ns, T_LONGLONG, "presentation time stamp; -1: none"),
    FRAME_MEMBER(clock_ns, T_LONGLONG, "the same on the pipeline's clock; -1: none"),
    FRAME_MEMBER(arrived_ns, T_LONGLONG, "when it came into the appsink, CLOCK_MONOTONIC"),
    FRAME_MEMBER(dropped, T_ULONGLONG, "buffers that were dropped so far"),
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot frame_slots[] = {
    {Py_tp_doc, "A buffer of the appsink; its bytes by the buffer protocol, read-only."},
    {Py_tp_dealloc, frame_dealloc},
    {Py_tp_members, frame_members},
    {Py_bf_getbuffer, frame_getbuffer},
    {Py_sq_length, frame_length},
    {0, NULL},
};

static PyType_Spec frame_spec = {"camera_pipeline._capture.Frame", sizeof(Frame), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 frame_slots};

static PyTypeObject* frame_type;

typedef struct {
  PyObject_HEAD struct capture* capture;
  bool ended;
} Capture;

static int capture_init(Capture* self, PyObject* args, PyObject* kwargs) {
  static char* names[] = {"description", "caps", "sync", "max_buffers", NULL};
  const char* description;
  const char* caps;
  int sync = 1;
  unsigned max_buffers = 0;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "ss|pI", names, &description, &caps, &sync,
                                   &max_buffers)) {
    return -1;
  }
  if (self->capture != NULL) {
    PyErr_SetString(PyExc_RuntimeError, "a Capture is made once");
    return -1;
  }
  struct failure failure = {0};
  Py_BEGIN_ALLOW_THREADS;
  self->capture = capture_open(description, caps, sync != 0, max_buffers, &failure);
  Py_END_ALLOW_THREADS;
  if (self->capture == NULL) {
    raise_failure(&failure);
    return -1;
  }
  return 0;
}

static PyObject* capture_close_method(Capture* self, PyObject* Py_UNUSED(ignored)) {
  struct capture* capture = self->capture;
  self->capture = NULL;
  if (capture != NULL) {
    Py_BEGIN_ALLOW_THREADS;
    capture_close(capture);
    Py_END_ALLOW_THREADS;
  }
  Py_RETURN_NONE;
}

static void capture_dealloc(Capture* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(capture_close_method(self, NULL));
  type->tp_free((PyObject*)self);
  Py_DECREF(type);
}

static bool is_open(const Capture* self) {
  if (self->capture == NULL) {
    PyErr_SetString(PyExc_ValueError, "the Capture is closed");
  }
  return self->capture != NULL;
}

static PyObject* set_state(Capture* self, PyObject* argument, GstState state) {
  double timeout_s = PyFloat_AsDouble(argument);
  if (PyErr_Occurred() || !is_open(self)) {
    return NULL;
  }
  struct failure failure = {0};
  Py_BEGIN_ALLOW_THREADS;
  capture_set_state(self->capture, state, (int64_t)(timeout_s * 1e9), &failure);
  Py_END_ALLOW_THREADS;
  if (failure.message != NULL) {
    return raise_failure(&failure);
  }
  Py_RETURN_NONE;
}

static PyObject* capture_pause(Capture* self, PyObject* argument) {
  return set_state(self, argument, GST_STATE_PAUSED);
}

static PyObject* capture_play(Capture* self, PyObject* argument) {
  return set_state(self, argument, GST_STATE_PLAYING);
}

static PyObject* make_frame(const struct frame* pulled) {
  Frame* frame = PyObject_New(Frame, frame_type);
  if (frame == NULL) {
    return NULL;
  }
  frame->frame = *pulled;
  return (PyObject*)frame;
}

static PyObject* capture_pull_method(Capture* self, PyObject* argument) {
  double timeout_s = PyFloat_AsDouble(argument);
  if (PyErr_Occurred() || !is_open(self)) {
    return NULL;
  }
  struct failure failure = {0};
  struct frame frame;
  enum pulled pulled;
  Py_BEGIN_ALLOW_THREADS;
  pulled = capture_pull(self->capture, (int64_t)(timeout_s * 1e9), &frame, &failure);
  Py_END_ALLOW_THREADS;
  if (pulled == PULLED_ERROR) {
    return raise_failure(&failure);
  }
  self->ended = pulled == PULLED_END;
  if (pulled != PULLED_FRAME) {
    Py_RETURN_NONE;
  }
  PyObject* made = make_frame(&frame);
  if (made == NULL) {
    frame_release(&frame);
  }
  return made;
}

static PyMethodDef capture_methods[] = {
    {"pause", (PyCFunction)capture_pause, METH_O,
     "pause(timeout_s): make the pipeline ready; raises CaptureError."},
    {"play", (PyCFunction)capture_play, METH_O,
     "play(timeout_s): let the buffers flow; raises CaptureError."},
    {"pull", (PyCFunction)capture_pull_method, METH_O,
     "pull(timeout_s) -> Frame | None: wait for the next buffer; None: none came in time, or the "
     "stream ended (see `ended`). Raises CaptureError when an element failed."},
    {"close", (PyCFunction)capture_close_method, METH_NOARGS,
     "close(): stop the pipeline. Frames that were pulled stay valid."},
    {NULL, NULL, 0, NULL},
};

static PyObject* capture_get_name(Capture* self, void* Py_UNUSED(closure)) {
  return is_open(self) ? PyUnicode_FromString(capture_name(self->capture)) : NULL;
}

static PyGetSetDef capture_getters[] = {
    {"name", (getter)capture_get_name, NULL, "the appsink's element name", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef capture_members[] = {
    {"ended", T_BOOL, offsetof(Capture, ended), READONLY, "the stream has ended"},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot capture_slots[] = {
    {Py_tp_doc,
     "Capture(description, caps, sync=True, max_buffers=0): a pipeline that ends in an appsink.\n"
     "For one thread. With sync a buffer waits for its time; above max_buffers (0: no limit) the "
     "oldest is dropped. Raises CaptureError(message, code, debug)."},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_init, capture_init},
    {Py_tp_dealloc, capture_dealloc},
    {Py_tp_methods, capture_methods},
    {Py_tp_members, capture_members},
    {Py_tp_getset, capture_getters},
    {0, NULL},
};

static PyType_Spec capture_spec = {"camera_pipeline._capture.Capture", sizeof(Capture), 0,
                                   Py_TPFLAGS_DEFAULT, capture_slots};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT,
                                    "camera_pipeline._capture",
                                    "GStreamer pipelines whose buffers Python holds uncopied.",
                                    -1,
                                    NULL,
                                    NULL,
                                    NULL,
                                    NULL,
                                    NULL};

PyMODINIT_FUNC PyInit__capture(void) {
  GError* error = NULL;
  if (!gst_init_check(NULL, NULL, &error)) {
    PyErr_SetString(PyExc_ImportError, error != NULL ? error->message : "GStreamer refused");
    g_clear_error(&error);
    return NULL;
  }
  PyObject* made = PyModule_Create(&module);
  PyObject* capture = PyType_FromSpec(&capture_spec);
  frame_type = (PyTypeObject*)PyType_FromSpec(&frame_spec);
  capture_error = PyErr_NewException("camera_pipeline._capture.CaptureError", NULL, NULL);
  if (made == NULL || capture == NULL || frame_type == NULL || capture_error == NULL ||
      PyModule_AddObjectRef(made, "Capture", capture) < 0 ||
      PyModule_AddObjectRef(made, "Frame", (PyObject*)frame_type) < 0 ||
      PyModule_AddObjectRef(made, "CaptureError", capture_error) < 0) {
    Py_XDECREF(made);
    return NULL;
  }
  Py_DECREF(capture);
  return made;
}
