/** The interface of sandboxes. A provider starts a sandbox; the sandbox daemon inside it does the rest. */
import type { OutputListener } from './output/follow.ts'

/** The path of a session's outputs inside every sandbox. */
export const outputsPath = '/mnt/session/outputs'

export type SandboxLimits = {
  /** Bytes of memory for all processes together, tmpfs included. */
  memory: number
  processes: number
  /** Cores, fractions allowed. */
  cpus: number
  /** Bytes of each writable tmpfs (`/tmp`, `/run`). */
  scratch: number
  /** Bytes of one file. */
  file: number
}

export type SandboxSpec = {
  /** Names the sandbox on this machine; at most one with a given id is alive. */
  id: string
  /** Host folder that is `/workspace` inside; it exists, and outlives the sandbox. */
  workspace: string
  /** Host folder that is `/mnt/session/outputs` inside. */
  outputs: string
  /** A folder below `/workspace` to which `/mnt/session/outputs` leads instead. */
  outputsAt?: string
  /**
   * True when the server has filled these two folders. All files in them are then given to the session's user,
   * following no link.
   */
  isPrefilled: boolean
  /** Environment variables of every command. The server's own variables are never passed on. */
  env: Record<string, string>
  limits: SandboxLimits
  /** The gate, which is the only egress; null for no network at all. */
  egress: SandboxEgress | null
  /** Further folders and files that are visible for the life of the sandbox. */
  mounts: readonly SandboxMount[]
  /** Reference of the OCI image to start from; the provider's own choice without one. */
  image?: string
  /** Host folder whose `usr` and `etc` cover the system's. Only where `systemOf` returns a folder. */
  layer?: string
  /** Folders inside that come first in PATH. */
  path?: readonly string[]
}

/** A mounted folder is live: files that the host adds later are visible inside at once. */
export type SandboxMount = {
  /** Host path of a folder or a regular file. */
  source: string
  /** Absolute path inside, below /home/user, /mnt or /opt. */
  path: string
  /** `write` is for folders. They are given to the session's user with everything in them, following no link. */
  access: 'read' | 'write'
}

/**
 * A gate that speaks HTTP proxy. Commands find it by the usual proxy variables, and programs that ignore those by the
 * addresses of names: ports 80 and 443 of every name lead to `CONNECT name:port` at the gate.
 */
export type SandboxEgress = {
  /** Host path of the unix socket where the gate listens, from before the start to after the end. */
  socket: string
  /** Host path of the PEM bundle that commands trust, in place of the host's own. */
  certificates: string
}

export type ShellCommand = {
  command: string
  timeoutMs: number
  /** Aborting kills the command's process group; the result then has `ended: 'aborted'`. */
  signal?: AbortSignal
  /**
   * Secret variables for this command's process alone. The command gets only the directory of the session's shell and
   * changes nothing there. Its whole output is not stored, and the values are masked in its result. While the command
   * runs, other processes of the same sandbox can read the values from its process.
   */
  secretEnv?: Record<string, string>
  /** Hears the output while the command runs, and nothing after the result. */
  output?: OutputListener | undefined
}

/** A bash script and its arguments, `$1` and so on. */
export type AsideCommand = {
  script: string
  arguments: readonly string[]
  /** Variables of this command alone. Their values are masked in the result. */
  env?: Record<string, string>
  timeoutMs: number
  /** See `ShellCommand`. */
  signal?: AbortSignal
}

export type ShellResult = {
  /** stdout and stderr in the order written, ANSI codes removed, the last 100 KiB. */
  output: string
  /** Bytes written before the output was cut. */
  bytes: number
  /** Path of the whole output when it was cut: in the working folder, unless there was no room for it. */
  spilled?: string
  ended: 'exit' | 'timeout' | 'aborted'
  /** Set when `ended` is `exit`; 128 + n for a signal n. */
  exitCode?: number
}

export type FileError =
  | 'not_found'
  | 'not_a_file'
  | 'not_a_directory'
  | 'denied'
  | 'too_large'
  | 'io'
export type FileFailure = { ok: false; code: FileError; message: string }
export type FileSuccess<T> = { ok: true } & T

/**
 * `changedUs`: when content, name or permissions last changed, in microseconds. The kernel sets it, so programs cannot
 * forge it.
 */
export type FileStat = {
  path: string
  size: number
  mtimeMs: number
  changedUs: number
  inode: number
  mode: number
}

/**
 * One running sandbox. Paths are absolute inside it. A file that is missing, or a command that fails, is a
 * value; a call on a sandbox that has ended rejects with `SandboxEnded`.
 */
export interface Sandbox {
  readonly id: string
  /** Runs in the session's shell: directory, variables, functions, aliases and options carry over. Serialised. */
  shell(command: ShellCommand): Promise<ShellResult>
  /**
   * Runs beside the session's shell, in the working folder, without waiting for other commands and without the shell's
   * state. No whole output is stored. Ends when the shell is restarted.
   */
  aside(command: AsideCommand): Promise<ShellResult>
  /** Kills every process and forgets the shell's state. */
  restartShell(): Promise<void>
  /** At most `maxBytes` from `offset`; `size` is the whole file's. Regular files only. */
  read(
    path: string,
    range: { offset: number; maxBytes: number },
  ): Promise<FileSuccess<{ bytes: Uint8Array; size: number }> | FileFailure>
  /** Replaces the file in one step; makes parent folders (0700). */
  write(path: string, bytes: Uint8Array): Promise<FileSuccess<object> | FileFailure>
  /** Removes a file or link, and the folders above it, below `top`, that become empty. */
  remove(path: string, top: string): Promise<FileSuccess<object> | FileFailure>
  /**
   * Lists regular files below `root`, without `.git` and `node_modules` unless `isWhole`. Stops after `maxEntries`
   * entries. A file that changes after the walk began has a `changedUs` of `startedUs` or more.
   */
  walk(
    root: string,
    maxEntries: number,
    isWhole?: boolean,
  ): Promise<FileSuccess<{ files: FileStat[]; complete: boolean; startedUs: number }> | FileFailure>
  /** ripgrep with line numbers; exit code 1 means no match, 2 a bad pattern. */
  search(options: {
    pattern: string
    path: string
    timeoutMs: number
    signal?: AbortSignal
    /** See `ShellCommand`. */
    output?: OutputListener | undefined
  }): Promise<ShellResult>
  /** Resolves when the sandbox has ended, with the reason; never rejects. */
  readonly ended: Promise<string>
  /** Ends every process inside, for this reason; returns when none is left. Idempotent. */
  close(why?: string): Promise<void>
}

/** The isolation that the caller may promise a tenant. Never more than was tested. */
export type Isolation = {
  /** `none`: commands run as the server's user on its file system. */
  level: 'none' | 'kernel'
  /** `none`: a command has no route to any network. */
  network: 'none' | 'host'
  /** True when `egress.socket` is the only egress of a sandbox that has one. */
  gate: boolean
  /** The kind of limits that hold. */
  limits: 'cgroup2' | 'cgroup1' | 'rlimit' | 'none'
  /**
   * `own`: each sandbox has its own host user. With a shared user a sandbox can use up resources that the kernel counts
   * for each user, the server's too.
   */
  users: 'own' | 'shared'
}

export interface SandboxProvider {
  readonly name: string
  /** The reason why no sandbox starts from this image; undefined when it may be tried. */
  refuseImage(reference: string): string | undefined
  /**
   * Host folder of the system that sandboxes start with. Undefined when the system is no folder, so that no layer can
   * cover it.
   */
  systemOf(image: string | undefined): string | undefined
  /**
   * Identity of an image, which changes when its reference names another image. Undefined when sandboxes start from no
   * image. Fetches a missing image; rejects with `SandboxEnded` when that fails.
   */
  imageOf(reference: string | undefined): Promise<string | undefined>
  /** Checks that sandboxes can start on this machine. If not, says why and how to mend it. */
  check(): Promise<{ ok: true; isolation: Isolation } | { ok: false; why: string; remedy: string }>
  /** Rejects with `SandboxEnded` when the sandbox does not start; the message says why. */
  acquire(spec: SandboxSpec): Promise<Sandbox>
  /** Ends a sandbox with this id that another process of this machine left behind, if there is one. Idempotent. */
  reap(spec: Pick<SandboxSpec, 'id' | 'workspace'>): Promise<void>
  /** Ends processes that the provider holds ready for later sandboxes. Running sandboxes go on. */
  close?(): Promise<void>
}

/** The sandbox has ended. Commands in it may have run in part. */
export class SandboxEnded extends Error {
  override readonly name = 'SandboxEnded'
}
