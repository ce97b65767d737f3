// Loaded into a program by LD_PRELOAD: records what it does to the files below a folder, so that every state that a
// crash could leave can be made from it. Linux with glibc only.
//
//   FILTERBLOCK_RECORD_ROOT    the folder, as an absolute path without symbolic links; without it nothing is done
//   FILTERBLOCK_RECORD_LOG     the file that the records are appended to; src/crash/mod.rs reads it
//
// Calls are made one at a time, so that the order of the records is that of the operations.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { kCreate = 1, kWrite, kTruncate, kSync, kSyncFolder, kRename, kLink, kUnlink, kMakeFolder, kRemoveFolder, kSetMode };

// The C library's function of this name, which a function below replaces.
#define REAL(name)                                                                  \
  ({                                                                                \
    static __typeof__(&name) real;                                                  \
    if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);            \
    real;                                                                           \
  })

// The system calls of this file itself, which must not come back to it.
#define raw(...) (REAL(syscall)(__VA_ARGS__))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static size_t root_len;
static int log_fd = -1;

static void die(const char* what) {
  dprintf(2, "preload: %s: %s\n", what, strerror(errno));
  _exit(99);
}

__attribute__((constructor)) static void start(void) {
  const char* folder = getenv("FILTERBLOCK_RECORD_ROOT");
  const char* file = getenv("FILTERBLOCK_RECORD_LOG");
  if (folder == NULL || file == NULL) return;
  const int fd = raw(SYS_openat, AT_FDCWD, file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) die(file);
  // Out of the way of programs that expect low numbers.
  log_fd = fcntl(fd, F_DUPFD_CLOEXEC, 900);
  if (log_fd < 0) log_fd = fd;
  else close(fd);
  root_len = strlen(folder);
  if (root_len >= sizeof root) die("FILTERBLOCK_RECORD_ROOT");
  strcpy(root, folder);
}

static int below_root(const char* path) {
  return log_fd >= 0 && strncmp(path, root, root_len) == 0 && (path[root_len] == '/' || path[root_len] == '\0');
}

// Writes the path of an open file, without symbolic links, to `path`. Returns 0 if the path cannot be read.
static int path_of_fd(int fd, char* path) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = raw(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  if (size < 0) return 0;
  path[size] = '\0';
  return 1;
}

// Writes to `to` the path that a call means, with no symbolic links in its folder. Returns 1 if the path is below the
// root.
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
  const int fd = raw(SYS_openat, folder, parent, O_PATH | O_CLOEXEC);
  int found = 0;
  if (fd >= 0) {
    found = path_of_fd(fd, to) && strlen(to) + strlen(name) + 2 < PATH_MAX;
    raw(SYS_close, fd);
    if (found) {
      strcat(to, "/");
      strcat(to, name);
    }
  }
  errno = before;
  return found && below_root(to);
}

// Returns 1 if the descriptor is a regular file or a folder below the root, and writes its status to `status`.
static int watched(int fd, struct stat* status) {
  if (log_fd < 0) return 0;
  const int before = errno;
  char path[PATH_MAX];
  const int result = fstat(fd, status) == 0 && (S_ISREG(status->st_mode) || S_ISDIR(status->st_mode)) &&
                     path_of_fd(fd, path) && below_root(path);
  errno = before;
  return result;
}

// Appends a record to the log: a header, which ends in the lengths of two byte strings, and the byte strings.
static void record(enum kind kind, uint64_t inode, uint64_t number, const void* a, size_t a_size, const void* b,
                   size_t b_size) {
  const int before = errno;
  uint64_t header[5] = {kind, inode, number, a_size, b_size};
  const struct iovec parts[3] = {{header, sizeof header}, {(void*)a, a_size}, {(void*)b, b_size}};
  if (raw(SYS_writev, log_fd, parts, 3) != (ssize_t)(sizeof header + a_size + b_size)) die("the log");
  errno = before;
}

static void record_paths(enum kind kind, const char* a, const char* b) {
  record(kind, 0, 0, a, strlen(a), b, b == NULL ? 0 : strlen(b));
}

// Records a new file or folder.
static void record_new(enum kind kind, const struct stat* status, const char* path) {
  record(kind, status->st_ino, status->st_mode, path, strlen(path), NULL, 0);
}

static int do_open(int folder, const char* path, const struct open_how* how, size_t size) {
  char to[PATH_MAX];
  const int flags = (int)how->flags;
  const int writes = (flags & (O_WRONLY | O_RDWR)) != 0 && (flags & O_PATH) == 0;
  const long call = size == 0 ? SYS_openat : SYS_openat2;
  const long third = size == 0 ? flags : (long)how, fourth = size == 0 ? (long)how->mode : (long)size;
  if (!writes || !resolve(folder, path, to)) return raw(call, folder, path, third, fourth);
  pthread_mutex_lock(&mutex);
  struct stat status;
  const int existed = raw(SYS_faccessat, AT_FDCWD, to, F_OK) == 0;
  const int fd = raw(call, folder, path, third, fourth);
  if (fd >= 0 && fstat(fd, &status) == 0) {
    if ((flags & O_TMPFILE) == O_TMPFILE) { errno = 0; die("O_TMPFILE is not supported"); }
    if (!existed) record_new(kCreate, &status, to);
    else if (flags & O_TRUNC) record(kTruncate, status.st_ino, 0, NULL, 0, NULL, 0);
  }
  pthread_mutex_unlock(&mutex);
  return fd;
}

static int open_by_flags(int folder, const char* path, int flags, mode_t mode) {
  const struct open_how how = {.flags = (unsigned)flags, .mode = mode};
  return do_open(folder, path, &how, 0);
}

#define OPEN_MODE(flags, mode)                           \
  mode_t mode = 0;                                       \
  if (((flags) & O_CREAT) || ((flags) & O_TMPFILE) == O_TMPFILE) { \
    va_list list;                                        \
    va_start(list, flags);                               \
    mode = va_arg(list, mode_t);                         \
    va_end(list);                                        \
  }

int open(const char* path, int flags, ...) { OPEN_MODE(flags, mode) return open_by_flags(AT_FDCWD, path, flags, mode); }
int open64(const char* path, int flags, ...) { OPEN_MODE(flags, mode) return open_by_flags(AT_FDCWD, path, flags, mode); }
int openat(int folder, const char* path, int flags, ...) { OPEN_MODE(flags, mode) return open_by_flags(folder, path, flags, mode); }
int openat64(int folder, const char* path, int flags, ...) { OPEN_MODE(flags, mode) return open_by_flags(folder, path, flags, mode); }
int creat(const char* path, mode_t mode) { return open_by_flags(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char* path, mode_t mode) { return open_by_flags(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

// `offset` is negative for a write at the descriptor's position.
static ssize_t do_write(int fd, const struct iovec* parts, int count, off_t offset) {
  struct stat status;
  const int at_position = offset < 0;
  if (!watched(fd, &status) || !S_ISREG(status.st_mode))
    return at_position ? raw(SYS_writev, fd, parts, count) : raw(SYS_pwritev, fd, parts, count, offset, 0);
  pthread_mutex_lock(&mutex);
  const ssize_t written = at_position ? raw(SYS_writev, fd, parts, count) : raw(SYS_pwritev, fd, parts, count, offset, 0);
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
  pthread_mutex_unlock(&mutex);
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
  if (!watched(fd, &status)) return raw(SYS_ftruncate, fd, size);
  pthread_mutex_lock(&mutex);
  const int result = raw(SYS_ftruncate, fd, size);
  if (result == 0) record(kTruncate, status.st_ino, (uint64_t)size, NULL, 0, NULL, 0);
  pthread_mutex_unlock(&mutex);
  return result;
}
int ftruncate(int fd, off_t size) { return do_truncate(fd, size); }
int ftruncate64(int fd, off64_t size) { return do_truncate(fd, size); }

static int do_sync(long call, int fd) {
  struct stat status;
  if (!watched(fd, &status)) return raw(call, fd);
  const enum kind kind = S_ISDIR(status.st_mode) ? kSyncFolder : kSync;
  pthread_mutex_lock(&mutex);
  const int result = raw(call, fd);
  if (result == 0) record(kind, status.st_ino, 0, NULL, 0, NULL, 0);
  pthread_mutex_unlock(&mutex);
  return result;
}
int fsync(int fd) { return do_sync(SYS_fsync, fd); }
int fdatasync(int fd) { return do_sync(SYS_fdatasync, fd); }

static int do_rename(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  char a[PATH_MAX], b[PATH_MAX];
  const int from_below = resolve(from_folder, from, a);
  const int to_below = resolve(to_folder, to, b);
  if (!from_below && !to_below) return raw(SYS_renameat2, from_folder, from, to_folder, to, flags);
  if (!from_below || !to_below || (flags & RENAME_EXCHANGE)) { errno = EXDEV; return -1; }
  pthread_mutex_lock(&mutex);
  const int result = raw(SYS_renameat2, from_folder, from, to_folder, to, flags);
  if (result == 0) record_paths(kRename, a, b);
  pthread_mutex_unlock(&mutex);
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
  if (!resolve(to_folder, to, b)) return raw(SYS_linkat, from_folder, from, to_folder, to, flags);
  if (!from_below) { errno = EXDEV; return -1; }
  pthread_mutex_lock(&mutex);
  const int result = raw(SYS_linkat, from_folder, from, to_folder, to, flags);
  if (result == 0) record_paths(kLink, a, b);
  pthread_mutex_unlock(&mutex);
  return result;
}
int link(const char* from, const char* to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int unlinkat(int folder, const char* path, int flags) {
  char to[PATH_MAX];
  if (!resolve(folder, path, to)) return raw(SYS_unlinkat, folder, path, flags);
  const enum kind kind = (flags & AT_REMOVEDIR) ? kRemoveFolder : kUnlink;
  pthread_mutex_lock(&mutex);
  const int result = raw(SYS_unlinkat, folder, path, flags);
  if (result == 0) record_paths(kind, to, NULL);
  pthread_mutex_unlock(&mutex);
  return result;
}
int unlink(const char* path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char* path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int mkdirat(int folder, const char* path, mode_t mode) {
  char to[PATH_MAX];
  if (!resolve(folder, path, to)) return raw(SYS_mkdirat, folder, path, mode);
  pthread_mutex_lock(&mutex);
  struct stat status;
  const int result = raw(SYS_mkdirat, folder, path, mode);
  if (result == 0 && raw(SYS_newfstatat, folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0) record_new(kMakeFolder, &status, to);
  pthread_mutex_unlock(&mutex);
  return result;
}
int mkdir(const char* path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int fchmod(int fd, mode_t mode) {
  struct stat status;
  if (!watched(fd, &status)) return raw(SYS_fchmod, fd, mode);
  pthread_mutex_lock(&mutex);
  const int result = raw(SYS_fchmod, fd, mode);
  if (result == 0) record(kSetMode, status.st_ino, mode, NULL, 0, NULL, 0);
  pthread_mutex_unlock(&mutex);
  return result;
}
int fchmodat(int folder, const char* path, mode_t mode, int flags) {
  char to[PATH_MAX];
  if (flags != 0) { errno = EOPNOTSUPP; return -1; }  // As the C library's, for symbolic links.
  if (!resolve(folder, path, to)) return raw(SYS_fchmodat, folder, path, mode);
  pthread_mutex_lock(&mutex);
  struct stat status;
  const int result = raw(SYS_fchmodat, folder, path, mode);
  if (result == 0 && raw(SYS_newfstatat, folder, path, &status, 0) == 0) record(kSetMode, status.st_ino, mode, NULL, 0, NULL, 0);
  pthread_mutex_unlock(&mutex);
  return result;
}
int chmod(const char* path, mode_t mode) { return fchmodat(AT_FDCWD, path, mode, 0); }

// Ways to copy that are not recorded. Callers fall back to reading and writing.
ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t size, unsigned flags) {
  struct stat status;
  if (watched(to, &status)) { errno = ENOSYS; return -1; }
  return raw(SYS_copy_file_range, from, from_offset, to, to_offset, size, flags);
}
ssize_t sendfile64(int to, int from, off64_t* offset, size_t size) {
  struct stat status;
  if (watched(to, &status)) { errno = ENOSYS; return -1; }
  return raw(SYS_sendfile, to, from, offset, size);
}
ssize_t sendfile(int to, int from, off_t* offset, size_t size) { return sendfile64(to, from, offset, size); }
ssize_t splice(int from, off64_t* from_offset, int to, off64_t* to_offset, size_t size, unsigned flags) {
  struct stat status;
  if (watched(to, &status)) { errno = EINVAL; return -1; }
  return raw(SYS_splice, from, from_offset, to, to_offset, size, flags);
}
int ioctl(int fd, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  void* argument = va_arg(list, void*);
  va_end(list);
  struct stat status;
  if ((request == FICLONE || request == FICLONERANGE) && watched(fd, &status)) { errno = EOPNOTSUPP; return -1; }
  return raw(SYS_ioctl, fd, request, argument);
}
int fallocate64(int fd, int mode, off64_t offset, off64_t size) {
  struct stat status;
  if (watched(fd, &status)) { errno = EOPNOTSUPP; return -1; }
  return raw(SYS_fallocate, fd, mode, offset, size);
}
int fallocate(int fd, int mode, off_t offset, off_t size) { return fallocate64(fd, mode, offset, size); }

// Some programs make calls by their number.
long syscall(long number, ...) {
  va_list list;
  va_start(list, number);
  long a[6];
  for (int i = 0; i < 6; ++i) a[i] = va_arg(list, long);
  va_end(list);
  if (log_fd >= 0) {
    switch (number) {
      case SYS_openat: return open_by_flags((int)a[0], (const char*)a[1], (int)a[2], (mode_t)a[3]);
      case SYS_openat2: return do_open((int)a[0], (const char*)a[1], (const struct open_how*)a[2], (size_t)a[3]);
      case SYS_fchmod: return fchmod((int)a[0], (mode_t)a[1]);
      case SYS_fchmodat: return fchmodat((int)a[0], (const char*)a[1], (mode_t)a[2], 0);
      case SYS_renameat2: return do_rename((int)a[0], (const char*)a[1], (int)a[2], (const char*)a[3], (unsigned)a[4]);
      case SYS_copy_file_range: return copy_file_range((int)a[0], (off64_t*)a[1], (int)a[2], (off64_t*)a[3], (size_t)a[4], (unsigned)a[5]);
    }
  }
  return raw(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
