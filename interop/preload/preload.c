// Loaded into a program by LD_PRELOAD: records what it does to the files below a folder, so that every state that a
// crash could leave can be made from it, and makes chosen calls fail. Linux with glibc only.
//
//   FILTERBLOCK_RECORD_ROOT    the folder, as an absolute path without symbolic links; without it nothing is done
//   FILTERBLOCK_RECORD_LOG     the file that the records are appended to; src/crash/log.rs reads it
//   FILTERBLOCK_RECORD_FAULT   "KIND FIRST COUNT ERRNO": of the calls of a kind, numbered from 1, COUNT fail from FIRST on
//   FILTERBLOCK_RECORD_SIGNAL  "N SIGNAL": the program gets this signal once it has done N operations
//   FILTERBLOCK_RECORD_NO_FOLDER_SYNC  if set, a sync of a folder returns at once
//
// Calls are made one at a time, so that the order of the records is that of the operations.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { kCreate = 1, kWrite, kTruncate, kSync, kSyncFolder, kRename, kLink, kUnlink, kMakeFolder, kRemoveFolder, kOpen, kFault, kSetMode, kKinds };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static size_t root_len;
static int log_fd = -1;
static unsigned long calls[kKinds];
static unsigned long fault_kind, fault_first, fault_count;
static int fault_errno;
static unsigned long operations, signal_after;
static int signal_number;
static int skip_folder_sync;

static void die(const char* what) {
  dprintf(2, "preload: %s: %s\n", what, strerror(errno));
  _exit(99);
}

__attribute__((constructor)) static void start(void) {
  const char* folder = getenv("FILTERBLOCK_RECORD_ROOT");
  const char* file = getenv("FILTERBLOCK_RECORD_LOG");
  if (folder == NULL || file == NULL) return;
  const int fd = syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) die(file);
  // Out of the way of programs that expect low numbers.
  log_fd = fcntl(fd, F_DUPFD_CLOEXEC, 900);
  if (log_fd < 0) log_fd = fd;
  else close(fd);
  root_len = strlen(folder);
  if (root_len >= sizeof root) die("FILTERBLOCK_RECORD_ROOT");
  strcpy(root, folder);
  const char* fault = getenv("FILTERBLOCK_RECORD_FAULT");
  if (fault != NULL && sscanf(fault, "%lu %lu %lu %d", &fault_kind, &fault_first, &fault_count, &fault_errno) != 4)
    die("FILTERBLOCK_RECORD_FAULT");
  const char* sent = getenv("FILTERBLOCK_RECORD_SIGNAL");
  if (sent != NULL && sscanf(sent, "%lu %d", &signal_after, &signal_number) != 2) die("FILTERBLOCK_RECORD_SIGNAL");
  skip_folder_sync = getenv("FILTERBLOCK_RECORD_NO_FOLDER_SYNC") != NULL;
}

static int below_root(const char* path) {
  return log_fd >= 0 && strncmp(path, root, root_len) == 0 && (path[root_len] == '/' || path[root_len] == '\0');
}

// The path of an open file without symbolic links. Returns 0 if it has none.
static int path_of_fd(int fd, char* path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, PATH_MAX - 1);
  if (size < 0) return 0;
  path[size] = '\0';
  return 1;
}

// The path that a call means, its folder without symbolic links. Returns whether it is below the root.
static int resolve(int folder, const char* path, char* to) {
  if (log_fd < 0 || path == NULL) return 0;
  const int before = errno;
  char parent[PATH_MAX];
  const size_t size = strlen(path);
  if (size == 0 || size >= sizeof parent) return 0;
  strcpy(parent, path);
  for (size_t end = size; end > 1 && parent[end - 1] == '/'; --end) parent[end - 1] = '\0';
  char name[NAME_MAX + 1];
  char* slash = strrchr(parent, '/');
  const char* last = slash == NULL ? parent : slash + 1;
  if (strlen(last) > NAME_MAX) return 0;
  strcpy(name, last);
  if (slash == NULL) strcpy(parent, ".");
  else slash[slash == parent] = '\0';
  const int fd = syscall(SYS_openat, folder, parent, O_PATH | O_CLOEXEC);
  int found = 0;
  if (fd >= 0) {
    found = path_of_fd(fd, to) && strlen(to) + strlen(name) + 2 < PATH_MAX;
    syscall(SYS_close, fd);
    if (found) {
      strcat(to, "/");
      strcat(to, name);
    }
  }
  errno = before;
  return found && below_root(to);
}

// Whether a descriptor is a regular file or a folder below the root; its inode.
static int watched(int fd, struct stat* status) {
  if (log_fd < 0) return 0;
  const int before = errno;
  char path[PATH_MAX];
  const int result = fstat(fd, status) == 0 && (S_ISREG(status->st_mode) || S_ISDIR(status->st_mode)) &&
                     path_of_fd(fd, path) && below_root(path);
  errno = before;
  return result;
}

// Header, then two byte strings of these lengths.
static void record(enum kind kind, uint64_t inode, uint64_t number, const void* a, size_t a_size, const void* b,
                   size_t b_size) {
  const int before = errno;
  uint64_t header[5] = {kind, inode, number, a_size, b_size};
  const struct iovec parts[3] = {{header, sizeof header}, {(void*)a, a_size}, {(void*)b, b_size}};
  if (syscall(SYS_writev, log_fd, parts, 3) != (ssize_t)(sizeof header + a_size + b_size)) die("the log");
  if (kind != kOpen) ++operations;
  errno = before;
}

static void record_paths(enum kind kind, const char* a, const char* b) {
  record(kind, 0, 0, a, strlen(a), b, b == NULL ? 0 : strlen(b));
}

// A new file or folder.
static void record_new(enum kind kind, const struct stat* status, const char* path) {
  record(kind, status->st_ino, status->st_mode, path, strlen(path), NULL, 0);
}

// Before a call: returns 1, with `errno` set, if it is to fail.
static int begin(enum kind kind) {
  pthread_mutex_lock(&mutex);
  const unsigned long n = ++calls[kind];
  if (kind != fault_kind || n < fault_first || n >= fault_first + fault_count) return 0;
  record(kFault, 0, kind, NULL, 0, NULL, 0);
  errno = fault_errno;
  return 1;
}

// After it. The signal comes without the mutex: who handles it may use files.
static void end(void) {
  const int before = errno;
  const int now = signal_number != 0 && operations >= signal_after;
  const int number = signal_number;
  if (now) signal_number = 0;
  pthread_mutex_unlock(&mutex);
  if (now) {
    kill(getpid(), number);
    usleep(30000);
  }
  errno = before;
}

static int do_open(int folder, const char* path, int flags, mode_t mode) {
  char to[PATH_MAX];
  const int writes = (flags & (O_WRONLY | O_RDWR)) != 0 && (flags & O_PATH) == 0;
  if (!writes || !resolve(folder, path, to)) return syscall(SYS_openat, folder, path, flags, mode);
  int fd = -1;
  if (!begin(kOpen)) {
    struct stat status;
    const int existed = syscall(SYS_faccessat, AT_FDCWD, to, F_OK) == 0;
    fd = syscall(SYS_openat, folder, path, flags, mode);
    if (fd >= 0 && fstat(fd, &status) == 0) {
      if ((flags & O_TMPFILE) == O_TMPFILE) { errno = 0; die("O_TMPFILE is not supported"); }
      if (!existed) record_new(kCreate, &status, to);
      else if (flags & O_TRUNC) record(kTruncate, status.st_ino, 0, NULL, 0, NULL, 0);
    }
  }
  end();
  return fd;
}

#define OPEN_MODE(flags, mode)                           \
  mode_t mode = 0;                                       \
  if (((flags) & O_CREAT) || ((flags) & O_TMPFILE) == O_TMPFILE) { \
    va_list list;                                        \
    va_start(list, flags);                               \
    mode = va_arg(list, mode_t);                         \
    va_end(list);                                        \
  }

int open(const char* path, int flags, ...) { OPEN_MODE(flags, mode) return do_open(AT_FDCWD, path, flags, mode); }
int open64(const char* path, int flags, ...) { OPEN_MODE(flags, mode) return do_open(AT_FDCWD, path, flags, mode); }
int openat(int folder, const char* path, int flags, ...) { OPEN_MODE(flags, mode) return do_open(folder, path, flags, mode); }
int openat64(int folder, const char* path, int flags, ...) { OPEN_MODE(flags, mode) return do_open(folder, path, flags, mode); }
int creat(const char* path, mode_t mode) { return do_open(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char* path, mode_t mode) { return do_open(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

// `offset` is negative for a write at the descriptor's position.
static ssize_t do_write(int fd, const struct iovec* parts, int count, off_t offset) {
  struct stat status;
  const int at_position = offset < 0;
  if (!watched(fd, &status) || !S_ISREG(status.st_mode))
    return at_position ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_pwritev, fd, parts, count, offset, 0);
  ssize_t written = -1;
  if (!begin(kWrite)) {
    written = at_position ? syscall(SYS_writev, fd, parts, count) : syscall(SYS_pwritev, fd, parts, count, offset, 0);
    if (written > 0) {
      uint64_t place = at_position ? (uint64_t)(lseek(fd, 0, SEEK_CUR) - written) : (uint64_t)offset;
      size_t left = (size_t)written;
      for (int i = 0; i < count && left > 0; ++i) {
        const size_t size = parts[i].iov_len < left ? parts[i].iov_len : left;
        if (size > 0) record(kWrite, status.st_ino, place, parts[i].iov_base, size, NULL, 0);
        place += size;
        left -= size;
      }
    }
  }
  end();
  return written;
}

ssize_t write(int fd, const void* data, size_t size) {
  const struct iovec part = {(void*)data, size};
  return do_write(fd, &part, 1, -1);
}
ssize_t writev(int fd, const struct iovec* parts, int count) { return do_write(fd, parts, count, -1); }
ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  const struct iovec part = {(void*)data, size};
  return do_write(fd, &part, 1, offset);
}
ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) { return pwrite(fd, data, size, offset); }
ssize_t pwritev(int fd, const struct iovec* parts, int count, off_t offset) { return do_write(fd, parts, count, offset); }
ssize_t pwritev64(int fd, const struct iovec* parts, int count, off64_t offset) { return do_write(fd, parts, count, offset); }

static int do_truncate(int fd, off_t size) {
  struct stat status;
  if (!watched(fd, &status)) return syscall(SYS_ftruncate, fd, size);
  int result = -1;
  if (!begin(kTruncate)) {
    result = syscall(SYS_ftruncate, fd, size);
    if (result == 0) record(kTruncate, status.st_ino, (uint64_t)size, NULL, 0, NULL, 0);
  }
  end();
  return result;
}
int ftruncate(int fd, off_t size) { return do_truncate(fd, size); }
int ftruncate64(int fd, off64_t size) { return do_truncate(fd, size); }

static int do_sync(long call, int fd) {
  struct stat status;
  if (!watched(fd, &status)) return syscall(call, fd);
  const enum kind kind = S_ISDIR(status.st_mode) ? kSyncFolder : kSync;
  if (kind == kSyncFolder && skip_folder_sync) return 0;
  int result = -1;
  if (!begin(kind)) {
    result = syscall(call, fd);
    if (result == 0) record(kind, status.st_ino, 0, NULL, 0, NULL, 0);
  }
  end();
  return result;
}
int fsync(int fd) { return do_sync(SYS_fsync, fd); }
int fdatasync(int fd) { return do_sync(SYS_fdatasync, fd); }

static int do_rename(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  char a[PATH_MAX], b[PATH_MAX];
  const int from_below = resolve(from_folder, from, a);
  const int to_below = resolve(to_folder, to, b);
  if (!from_below && !to_below) return syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
  if (!from_below || !to_below || (flags & RENAME_EXCHANGE)) { errno = EXDEV; return -1; }
  int result = -1;
  if (!begin(kRename)) {
    result = syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
    if (result == 0) record_paths(kRename, a, b);
  }
  end();
  return result;
}
int rename(const char* from, const char* to) { return do_rename(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return do_rename(from_folder, from, to_folder, to, 0);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  return do_rename(from_folder, from, to_folder, to, flags);
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) {
  char a[PATH_MAX], b[PATH_MAX];
  const int from_below = resolve(from_folder, from, a);
  if (!resolve(to_folder, to, b)) return syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
  if (!from_below) { errno = EXDEV; return -1; }
  int result = -1;
  if (!begin(kLink)) {
    result = syscall(SYS_linkat, from_folder, from, to_folder, to, flags);
    if (result == 0) record_paths(kLink, a, b);
  }
  end();
  return result;
}
int link(const char* from, const char* to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int folder, const char* path, int flags) {
  char to[PATH_MAX];
  if (!resolve(folder, path, to)) return syscall(SYS_unlinkat, folder, path, flags);
  const enum kind kind = (flags & AT_REMOVEDIR) ? kRemoveFolder : kUnlink;
  int result = -1;
  if (!begin(kind)) {
    result = syscall(SYS_unlinkat, folder, path, flags);
    if (result == 0) record_paths(kind, to, NULL);
  }
  end();
  return result;
}
int unlink(const char* path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char* path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int mkdirat(int folder, const char* path, mode_t mode) {
  char to[PATH_MAX];
  if (!resolve(folder, path, to)) return syscall(SYS_mkdirat, folder, path, mode);
  int result = -1;
  if (!begin(kMakeFolder)) {
    struct stat status;
    result = syscall(SYS_mkdirat, folder, path, mode);
    if (result == 0 && fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0) record_new(kMakeFolder, &status, to);
  }
  end();
  return result;
}
int mkdir(const char* path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int fchmod(int fd, mode_t mode) {
  struct stat status;
  if (!watched(fd, &status)) return syscall(SYS_fchmod, fd, mode);
  int result = -1;
  if (!begin(kSetMode)) {
    result = syscall(SYS_fchmod, fd, mode);
    if (result == 0) record(kSetMode, status.st_ino, mode, NULL, 0, NULL, 0);
  }
  end();
  return result;
}
int fchmodat(int folder, const char* path, mode_t mode, int flags) {
  char to[PATH_MAX];
  if (flags != 0) { errno = EOPNOTSUPP; return -1; }  // As the C library's, for symbolic links.
  if (!resolve(folder, path, to)) return syscall(SYS_fchmodat, folder, path, mode);
  int result = -1;
  if (!begin(kSetMode)) {
    struct stat status;
    result = syscall(SYS_fchmodat, folder, path, mode);
    if (result == 0 && fstatat(folder, path, &status, 0) == 0) record(kSetMode, status.st_ino, mode, NULL, 0, NULL, 0);
  }
  end();
  return result;
}
int chmod(const char* path, mode_t mode) { return fchmodat(AT_FDCWD, path, mode, 0); }

// Ways to copy that are not recorded. Callers fall back to reading and writing.
ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t size, unsigned flags) {
  struct stat status;
  if (watched(to, &status)) { errno = ENOSYS; return -1; }
  return syscall(SYS_copy_file_range, from, from_offset, to, to_offset, size, flags);
}
ssize_t sendfile64(int to, int from, off64_t* offset, size_t size) {
  struct stat status;
  if (watched(to, &status)) { errno = ENOSYS; return -1; }
  return syscall(SYS_sendfile, to, from, offset, size);
}
ssize_t sendfile(int to, int from, off_t* offset, size_t size) { return sendfile64(to, from, offset, size); }
ssize_t splice(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t size, unsigned flags) {
  struct stat status;
  if (watched(to, &status)) { errno = EINVAL; return -1; }
  return syscall(SYS_splice, from, from_offset, to, to_offset, size, flags);
}
int ioctl(int fd, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  void* argument = va_arg(list, void*);
  va_end(list);
  struct stat status;
  if ((request == FICLONE || request == FICLONERANGE) && watched(fd, &status)) { errno = EOPNOTSUPP; return -1; }
  return syscall(SYS_ioctl, fd, request, argument);
}
int fallocate64(int fd, int mode, off64_t offset, off64_t size) {
  struct stat status;
  if (watched(fd, &status)) { errno = EOPNOTSUPP; return -1; }
  return syscall(SYS_fallocate, fd, mode, offset, size);
}
int fallocate(int fd, int mode, off_t offset, off_t size) { return fallocate64(fd, mode, offset, size); }
