// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// The functions of driver.h for Python. An emitting one keeps the GIL: a tracepoint never waits.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

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

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

// The time-out of a Python socket; 0: it does not wait, or is a plain descriptor.
static int64_t timeout_ms(PyObject* socket) {
  PyObject* timeout = PyObject_CallMethod(socket, "gettimeout", NULL);
  double seconds = timeout != NULL && timeout != Py_None ? PyFloat_AsDouble(timeout) : 0;
  Py_XDECREF(timeout);
  PyErr_Clear();
  return seconds > 0 ? (int64_t)(seconds * 1000 + 0.999) : 0;
}

// Waits as Python's sockets with a time-out do, which are non-blocking ones; false with an
// exception set when nothing came. `until_ms`: 0 before the first wait.
static bool wait_for_data(PyObject* socket, int fd, int64_t* until_ms) {
  int64_t timeout = timeout_ms(socket);
  if (timeout == 0) {
    errno = EAGAIN;
    PyErr_SetFromErrno(PyExc_OSError);
    return false;
  }
  *until_ms = *until_ms != 0 ? *until_ms : now_ms() + timeout;
  int64_t left = *until_ms - now_ms();
  struct pollfd waiting = {fd, POLLIN, 0};
  int ready = 0;
  if (left > 0) {
    Py_BEGIN_ALLOW_THREADS;
    ready = poll(&waiting, 1, left < INT_MAX ? (int)left : INT_MAX);
    Py_END_ALLOW_THREADS;
  }
  if (ready == 0 && *until_ms <= now_ms()) {
    PyErr_SetString(PyExc_TimeoutError, "timed out");
    return false;
  }
  return ready >= 0 || errno != EINTR || PyErr_CheckSignals() == 0;
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
  int64_t until_ms = 0;
  int fd = PyObject_AsFileDescriptor(socket);
  bool again = fd >= 0;
  while (again) {
    ssize_t got;
    int error;
    Py_BEGIN_ALLOW_THREADS;
    got = strata_driver_receive(source, fd, buffer.buf, (size_t)buffer.len, flags, &packet);
    error = errno;
    Py_END_ALLOW_THREADS;
    again = false;
    if (got >= 0) {
      result = Py_BuildValue("nLIK", (Py_ssize_t)got, (long long)packet.queue_ns,
                             (unsigned int)packet.dropped, (unsigned long long)packet.sequence);
    } else if (error == EINTR) {
      again = PyErr_CheckSignals() == 0;
    } else if (error == EAGAIN) {
      again = wait_for_data(socket, fd, &until_ms);
    } else {
      errno = error;
      PyErr_SetFromErrno(PyExc_OSError);
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
