// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The functions of driver.h for Python. An emitting one keeps the GIL: a tracepoint never waits.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "driver_tracepoints/driver.h"

// Reads `count` integers; false with an exception set when one is none. Signed and unsigned 64-bit
// numbers have the same bits.
static bool integers(const char* name, PyObject* const* args, Py_ssize_t nargs, Py_ssize_t count,
                     uint64_t* out) {
  if (nargs != count) {
    PyErr_Format(PyExc_TypeError, "%s() needs %zd arguments", name, count);
    return false;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    out[i] = PyLong_AsUnsignedLongLongMask(args[i]);
    if (out[i] == (uint64_t)-1 && PyErr_Occurred()) {
      return false;
    }
  }
  return true;
}

static PyObject* source_init(PyObject* self, PyObject* args) {
  (void)self;
  const char *kind, *name, *address;
  if (!PyArg_ParseTuple(args, "sss:source_init", &kind, &name, &address)) {
    return NULL;
  }
  return PyLong_FromUnsignedLongLong(strata_driver_source_init(kind, name, address));
}

// A function of `count` integers and nothing else.
#define EMITTER(name, count, ...)                                                  \
  static PyObject* name(PyObject* self, PyObject* const* args, Py_ssize_t nargs) { \
    (void)self;                                                                    \
    uint64_t a[count];                                                             \
    if (!integers(#name, args, nargs, count, a)) {                                 \
      return NULL;                                                                 \
    }                                                                              \
    strata_driver_##name(__VA_ARGS__);                                             \
    Py_RETURN_NONE;                                                                \
  }

EMITTER(packet_received, 5, a[0], a[1], (uint32_t)a[2], (int64_t)a[3], (uint32_t)a[4])
EMITTER(frame_boundary, 6, a[0], a[1], (uint32_t)a[2], (uint32_t)a[3], a[4], a[5])
EMITTER(buffer_pulled, 6, a[0], a[1], (uint32_t)a[2], (int64_t)a[3], (int64_t)a[4], a[5])
EMITTER(cloud_ready, 3, a[0], a[1], a[2])
EMITTER(copy_done, 3, a[0], a[1], a[2])

static PyObject* prepare(PyObject* self, PyObject* socket) {
  (void)self;
  int fd = PyObject_AsFileDescriptor(socket);
  if (fd < 0) {
    return NULL;
  }
  if (strata_driver_prepare(fd) != 0) {
    return PyErr_SetFromErrno(PyExc_OSError);
  }
  Py_RETURN_NONE;
}

static PyObject* receive(PyObject* self, PyObject* args) {
  (void)self;
  PyObject* socket;
  Py_buffer buffer;
  unsigned long long source;
  int flags = 0;
  if (!PyArg_ParseTuple(args, "Ow*K|i:receive", &socket, &buffer, &source, &flags)) {
    return NULL;
  }
  struct strata_driver_packet packet;
  PyObject* result = NULL;
  int fd = PyObject_AsFileDescriptor(socket);
  while (fd >= 0) {
    ssize_t got;
    int error;
    Py_BEGIN_ALLOW_THREADS;
    got = strata_driver_receive(source, fd, buffer.buf, (size_t)buffer.len, flags, &packet);
    error = errno;
    Py_END_ALLOW_THREADS;
    if (got >= 0) {
      result = Py_BuildValue("nLIK", (Py_ssize_t)got, (long long)packet.queue_ns,
                             (unsigned int)packet.dropped, (unsigned long long)packet.sequence);
      break;
    }
    if (error != EINTR || PyErr_CheckSignals() != 0) {
      if (!PyErr_Occurred()) {
        errno = error;
        PyErr_SetFromErrno(PyExc_OSError);
      }
      break;
    }
  }
  PyBuffer_Release(&buffer);
  return result;
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef methods[] = {
    {"source_init", source_init, METH_VARARGS,
     "source_init(kind, name, address) -> int: announce a source; its id."},
    {"packet_received", FAST(packet_received), METH_FASTCALL,
     "packet_received(source, sequence, bytes, queue_ns, dropped)"},
    {"frame_boundary", FAST(frame_boundary), METH_FASTCALL,
     "frame_boundary(source, frame, packets, missing, first_sequence, last_sequence)"},
    {"buffer_pulled", FAST(buffer_pulled), METH_FASTCALL,
     "buffer_pulled(source, frame, bytes, pts_ns, queue_ns, dropped)"},
    {"cloud_ready", FAST(cloud_ready), METH_FASTCALL, "cloud_ready(source, frame, bytes)"},
    {"copy_done", FAST(copy_done), METH_FASTCALL, "copy_done(source, frame, bytes)"},
    {"prepare", prepare, METH_O,
     "prepare(socket): have the kernel stamp and count; best before bind."},
    {"receive", receive, METH_VARARGS,
     "receive(socket, buffer, source, flags=0) -> (bytes, queue_ns, dropped, sequence): read a "
     "datagram as socket.recv_into does, without the GIL, and emit packet_received."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT,
                                    "driver_tracepoints._emit",
                                    "The driver tracepoints.",
                                    -1,
                                    methods,
                                    NULL,
                                    NULL,
                                    NULL,
                                    NULL};

PyMODINIT_FUNC PyInit__emit(void) { return PyModule_Create(&module); }
