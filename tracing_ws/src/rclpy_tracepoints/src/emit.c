// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Calls the tracepoint functions of the libtracetools that is already in the process. No library is
// loaded for it: an entry point that is missing, or a process without tracetools, emits nothing.
// Every function keeps the GIL: an LTTng-UST tracepoint never waits.
#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LIBRARY "libtracetools.so"

// The tracepoints, with the signatures of tracetools.h since ROS 2 Iron. A function checks by
// itself whether its event is enabled.
static struct {
  void (*subscription_init)(const void* subscription_handle, const void* subscription);
  void (*subscription_callback_added)(const void* subscription, const void* callback);
  void (*timer_callback_added)(const void* timer_handle, const void* callback);
  void (*timer_link_node)(const void* timer_handle, const void* node_handle);
  void (*service_callback_added)(const void* service_handle, const void* callback);
  // The same of what is soon gone: it is not announced again when a session starts.
  void (*goal_added)(const void* goal, const void* callback);
  void (*callback_register)(const void* callback, const char* symbol);
  void (*publish)(const void* publisher_handle, const void* message);
  void (*callback_start)(const void* callback, bool is_intra_process);
  void (*callback_end)(const void* callback);
  void (*wait_for_work)(int64_t timeout);
  void (*get_next_ready)(void);
  void (*execute)(const void* handle);
} trace;

static const struct {
  const char* symbol;
  void* slot;
} entry_points[] = {
    {"ros_trace_rclcpp_subscription_init", &trace.subscription_init},
    {"ros_trace_rclcpp_subscription_callback_added", &trace.subscription_callback_added},
    {"ros_trace_rclcpp_timer_callback_added", &trace.timer_callback_added},
    {"ros_trace_rclcpp_timer_link_node", &trace.timer_link_node},
    {"ros_trace_rclcpp_service_callback_added", &trace.service_callback_added},
    {"ros_trace_rclcpp_callback_register", &trace.callback_register},
    {"ros_trace_rclcpp_publish", &trace.publish},
    {"ros_trace_callback_start", &trace.callback_start},
    {"ros_trace_callback_end", &trace.callback_end},
    {"ros_trace_rclcpp_executor_wait_for_work", &trace.wait_for_work},
    {"ros_trace_rclcpp_executor_get_next_ready", &trace.get_next_ready},
    {"ros_trace_rclcpp_executor_execute", &trace.execute},
};
#define ENTRY_POINTS (sizeof(entry_points) / sizeof(entry_points[0]))

// The functions of our own provider, which lies beside this library.
#define PROVIDER "librclpy_provider.so"
static struct {
  void (*suspend)(const void* callback, uint64_t execution);
  void (*resume)(const void* callback, uint64_t execution);
} own;

// What this thread took and is about to call. The callback is compared, never used: it may be gone.
static __thread struct {
  uintptr_t id;
  const PyObject* callback;
} pending;

static PyObject* func_name;

static int find_library(struct dl_phdr_info* info, size_t size, void* found) {
  (void)size;
  const char* slash = strrchr(info->dlpi_name, '/');
  const char* name = slash != NULL ? slash + 1 : info->dlpi_name;
  if (strncmp(name, LIBRARY, strlen(LIBRARY)) != 0) {
    return 0;
  }
  *(const char**)found = info->dlpi_name;
  return 1;
}

// A preloaded library is in the global scope. One that came with rclpy's own libraries is not, as
// Python opens extensions with RTLD_LOCAL: it is asked for by the path it was loaded from.
static void* find_function(void* local, const char* symbol) {
  void* function = dlsym(RTLD_DEFAULT, symbol);
  return function == NULL && local != NULL ? dlsym(local, symbol) : function;
}

// Opened only where ROS 2 is traced, and where it was built; never closed.
static void bind_provider(void) {
  Dl_info here;
  char path[4096];
  if (dladdr((void*)&own, &here) == 0 || here.dli_fname == NULL) {
    return;
  }
  const char* slash = strrchr(here.dli_fname, '/');
  int length = slash != NULL ? (int)(slash - here.dli_fname + 1) : 0;
  int written = snprintf(path, sizeof(path), "%.*s" PROVIDER, length, here.dli_fname);
  if (written < 0 || (size_t)written >= sizeof(path)) {
    return;
  }
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    return;
  }
  void* suspend = dlsym(library, "rclpy_trace_callback_suspend");
  void* resume = dlsym(library, "rclpy_trace_callback_resume");
  memcpy(&own.suspend, &suspend, sizeof(suspend));
  memcpy(&own.resume, &resume, sizeof(resume));
}

static PyObject* bind(PyObject* self, PyObject* Py_UNUSED(ignored)) {
  (void)self;
  const char* path = NULL;
  void* local = NULL;
  if (dl_iterate_phdr(find_library, &path) != 0) {
    // Never closed: the functions stay in use to the end of the process.
    local = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  }
  Py_ssize_t bound = 0;
  for (size_t i = 0; i < ENTRY_POINTS; i++) {
    void* function = find_function(local, entry_points[i].symbol);
    memcpy(entry_points[i].slot, &function, sizeof(function));
    bound += function != NULL;
  }
  // Not that of a library before it, which would keep it.
  void* goal = local != NULL ? dlsym(local, "ros_trace_rclcpp_service_callback_added") : NULL;
  memcpy(&trace.goal_added, &goal, sizeof(goal));
  if (bound != 0 && own.suspend == NULL) {
    bind_provider();
  }
  return PyLong_FromSsize_t(bound);
}

// Reads `count` unsigned integers; false with an exception set when one is none.
static bool addresses(const char* name, PyObject* const* args, Py_ssize_t nargs, Py_ssize_t count,
                      const void** out) {
  if (nargs < count) {
    PyErr_Format(PyExc_TypeError, "%s() needs %zd arguments", name, count);
    return false;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    out[i] = PyLong_AsVoidPtr(args[i]);
    if (out[i] == NULL && PyErr_Occurred()) {
      return false;
    }
  }
  return true;
}

#define EMIT_TWO_ADDRESSES(event)                                                   \
  static PyObject* event(PyObject* self, PyObject* const* args, Py_ssize_t nargs) { \
    (void)self;                                                                     \
    const void* given[2];                                                           \
    if (!addresses(#event, args, nargs, 2, given)) {                                \
      return NULL;                                                                  \
    }                                                                               \
    if (trace.event != NULL) {                                                      \
      trace.event(given[0], given[1]);                                              \
    }                                                                               \
    Py_RETURN_NONE;                                                                 \
  }

EMIT_TWO_ADDRESSES(subscription_init)
EMIT_TWO_ADDRESSES(subscription_callback_added)
EMIT_TWO_ADDRESSES(timer_callback_added)
EMIT_TWO_ADDRESSES(timer_link_node)
EMIT_TWO_ADDRESSES(service_callback_added)
EMIT_TWO_ADDRESSES(goal_added)

static PyObject* callback_register(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  const void* callback;
  if (!addresses("callback_register", args, nargs, 1, &callback)) {
    return NULL;
  }
  if (nargs < 2) {
    PyErr_SetString(PyExc_TypeError, "callback_register() needs 2 arguments");
    return NULL;
  }
  const char* symbol = PyUnicode_AsUTF8(args[1]);
  if (symbol == NULL) {
    return NULL;
  }
  if (trace.callback_register != NULL) {
    trace.callback_register(callback, symbol);
  }
  Py_RETURN_NONE;
}

#define EMIT_ADDRESS(event, ...)                            \
  static PyObject* event(PyObject* self, PyObject* given) { \
    (void)self;                                             \
    const void* id = PyLong_AsVoidPtr(given);               \
    if (id == NULL && PyErr_Occurred()) {                   \
      return NULL;                                          \
    }                                                       \
    if (trace.event != NULL) {                              \
      trace.event(__VA_ARGS__);                             \
    }                                                       \
    Py_RETURN_NONE;                                         \
  }

// The C message is not made yet, and the event has no field for the publisher: its rcl handle is
// given where rclcpp puts the message. rcl_publish, which follows, names that publisher.
EMIT_ADDRESS(publish, id, id)
EMIT_ADDRESS(callback_start, id, false)
EMIT_ADDRESS(callback_end, id)

#define EMIT_STEP(event, function)                                                  \
  static PyObject* event(PyObject* self, PyObject* const* args, Py_ssize_t nargs) { \
    (void)self;                                                                     \
    const void* given[2];                                                           \
    if (!addresses(#event, args, nargs, 2, given)) {                                \
      return NULL;                                                                  \
    }                                                                               \
    if (function != NULL) {                                                         \
      function(given[0], (uint64_t)(uintptr_t)given[1]);                            \
    }                                                                               \
    Py_RETURN_NONE;                                                                 \
  }

EMIT_STEP(callback_suspend, own.suspend)
EMIT_STEP(callback_resume, own.resume)

static PyObject* wait_for_work(PyObject* self, PyObject* timeout) {
  (void)self;
  long long ns = PyLong_AsLongLong(timeout);
  if (ns == -1 && PyErr_Occurred()) {
    return NULL;
  }
  if (trace.wait_for_work != NULL) {
    trace.wait_for_work(ns);
  }
  Py_RETURN_NONE;
}

static PyObject* get_next_ready(PyObject* self, PyObject* Py_UNUSED(ignored)) {
  (void)self;
  if (trace.get_next_ready != NULL) {
    trace.get_next_ready();
  }
  Py_RETURN_NONE;
}

static PyObject* execute(PyObject* self, PyObject* const* args, Py_ssize_t nargs) {
  (void)self;
  const void* given[2];
  if (!addresses("execute", args, nargs, 2, given)) {
    return NULL;
  }
  if (nargs < 3) {
    PyErr_SetString(PyExc_TypeError, "execute() needs 3 arguments");
    return NULL;
  }
  pending.id = (uintptr_t)given[1];
  pending.callback = args[2];
  if (trace.execute != NULL) {
    trace.execute(given[0]);
  }
  Py_RETURN_NONE;
}

// rclpy hands a timer's callback over as functools.partial(callback, info=...) when the callback
// wants the timer's information.
static bool is_pending(PyObject* callback) {
  if (callback == pending.callback) {
    return true;
  }
  PyObject* wrapped = PyObject_GetAttr(callback, func_name);
  if (wrapped == NULL) {
    PyErr_Clear();
    return false;
  }
  // Compared only: the callback holds its function.
  Py_DECREF(wrapped);
  return wrapped == pending.callback;
}

static PyObject* take_pending(PyObject* self, PyObject* callback) {
  (void)self;
  uintptr_t id = pending.id;
  if (id != 0 && !is_pending(callback)) {
    id = 0;
  }
  pending.id = 0;
  return PyLong_FromVoidPtr((void*)id);
}

static PyObject* clear_pending(PyObject* self, PyObject* Py_UNUSED(ignored)) {
  (void)self;
  pending.id = 0;
  Py_RETURN_NONE;
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef methods[] = {
    {"bind", bind, METH_NOARGS,
     "bind() -> int: find the tracepoint functions in this process; how many were found."},
    {"subscription_init", FAST(subscription_init), METH_FASTCALL,
     "subscription_init(subscription_handle, subscription)"},
    {"subscription_callback_added", FAST(subscription_callback_added), METH_FASTCALL,
     "subscription_callback_added(subscription, callback)"},
    {"timer_callback_added", FAST(timer_callback_added), METH_FASTCALL,
     "timer_callback_added(timer_handle, callback)"},
    {"timer_link_node", FAST(timer_link_node), METH_FASTCALL,
     "timer_link_node(timer_handle, node_handle)"},
    {"service_callback_added", FAST(service_callback_added), METH_FASTCALL,
     "service_callback_added(service_handle, callback)"},
    {"goal_added", FAST(goal_added), METH_FASTCALL, "goal_added(goal, callback)"},
    {"callback_register", FAST(callback_register), METH_FASTCALL,
     "callback_register(callback, symbol)"},
    {"publish", publish, METH_O, "publish(publisher_handle): publish() was entered."},
    {"callback_start", callback_start, METH_O, "callback_start(callback)"},
    {"callback_end", callback_end, METH_O, "callback_end(callback)"},
    {"callback_suspend", FAST(callback_suspend), METH_FASTCALL,
     "callback_suspend(callback, execution)"},
    {"callback_resume", FAST(callback_resume), METH_FASTCALL,
     "callback_resume(callback, execution)"},
    {"wait_for_work", wait_for_work, METH_O, "wait_for_work(timeout): nanoseconds, -1: no limit."},
    {"get_next_ready", get_next_ready, METH_NOARGS, "get_next_ready()"},
    {"execute", FAST(execute), METH_FASTCALL,
     "execute(handle, callback_id, callback): emit, and remember for take_pending on this thread."},
    {"take_pending", take_pending, METH_O,
     "take_pending(callback) -> int: the id that execute() was given for this callback on this "
     "thread, once; else 0."},
    {"clear_pending", clear_pending, METH_NOARGS, "clear_pending(): forget what execute() said."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT,
                                    "rclpy_tracepoints._emit",
                                    "The ros2 tracepoints of the process's libtracetools.",
                                    -1,
                                    methods,
                                    NULL,
                                    NULL,
                                    NULL,
                                    NULL};

PyMODINIT_FUNC PyInit__emit(void) {
  func_name = PyUnicode_InternFromString("func");
  return func_name != NULL ? PyModule_Create(&module) : NULL;
}
