/** Where commands run. A provider prepares the place; our agent inside it does the rest. */

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
  /** Whether the server has filled the two itself: all in them is given to the session's user, following no link. */
  isPrefilled: boolean
  /** Variables of every command; the server's own environment never enters. */
  env: Record<string, string>
  limits: SandboxLimits
  /** The gate, which is the only egress; null for no network at all. */
  egress: SandboxEgress | null
  /** What else stands in its view, from its start until its end. */
  mounts: readonly SandboxMount[]
  /** Reference of the OCI image it starts from; without one the provider's own choice. */
  image?: string
  /** Host folder whose `usr` and `etc` stand over those that it starts with; only where `systemOf` names those. */
  layer?: string
  /** Folders inside whose programs are found before all others. */
  path?: readonly string[]
}

/** A folder is live: what the host adds to it later is seen inside at once. */
export type SandboxMount = {
  /** Host path of a folder or a regular file. */
  source: string
  /** Absolute path inside, below /home/user, /mnt or /opt. */
  path: string
  /** `write` is for folders, which are given to the session's user with all in them, following no link. */
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
   * Variables of this command's process alone. It starts with nothing of the session's shell but its directory, leaves
   * nothing to it, keeps no spilled output, and the values are masked in its result. While it runs, other processes
   * of the same sandbox can read them from it.
   */
  secretEnv?: Record<string, string>
}

/** A script of bash, and what its `$1` and those after it are. */
export type AsideCommand = {
  script: string
  arguments: readonly string[]
  /** Of this command alone; the values are masked in its result. */
  env?: Record<string, string>
  timeoutMs: number
  /** As of a shell command. */
  signal?: AbortSignal
}

export type ShellResult = {
  /** stdout and stderr in the order written, ANSI codes removed, the last 100 KiB. */
  output: string
  /** Bytes written before anything was cut. */
  bytes: number
  /** Path of the whole output, when it was cut: in the workspace, unless there was no room for it. */
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
export type Failed = { ok: false; code: FileError; message: string }
export type Ok<T> = { ok: true } & T

/** `changedUs` is when the content, name or rights last changed, by the kernel, in microseconds: nobody can set it. */
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
   * Runs beside the session's shell, from the workspace: it waits for no command, and neither takes nor leaves any
   * state. No whole output is kept. It ends with the others when the shell is restarted.
   */
  aside(command: AsideCommand): Promise<ShellResult>
  /** Kills every process and forgets the shell's state. */
  restartShell(): Promise<void>
  /** At most `maxBytes` from `offset`; `size` is the whole file's. Regular files only. */
  read(
    path: string,
    range: { offset: number; maxBytes: number },
  ): Promise<Ok<{ bytes: Uint8Array; size: number }> | Failed>
  /** Replaces the file in one step; makes parent folders (0700). */
  write(path: string, bytes: Uint8Array): Promise<Ok<object> | Failed>
  /** A file or a link, and then the folders above it, below `top`, that it leaves empty. */
  remove(path: string, top: string): Promise<Ok<object> | Failed>
  /**
   * Regular files below `root`, without `.git` and `node_modules` unless `isWhole`; stops after `maxEntries` looked at.
   * What changes after the walk began has a `changedUs` of `startedUs` or more.
   */
  walk(
    root: string,
    maxEntries: number,
    isWhole?: boolean,
  ): Promise<Ok<{ files: FileStat[]; complete: boolean; startedUs: number }> | Failed>
  /** ripgrep with line numbers; exit code 1 means no match, 2 a bad pattern. */
  search(options: {
    pattern: string
    path: string
    timeoutMs: number
    signal?: AbortSignal
  }): Promise<ShellResult>
  /** Resolves when the sandbox has ended, with the reason; never rejects. */
  readonly ended: Promise<string>
  /** Ends every process inside, for this reason; returns when none is left. Idempotent. */
  close(why?: string): Promise<void>
}

/** What the caller may promise a tenant; never more than was tested. */
export type Isolation = {
  /** `none`: commands run as the server's user on its file system. */
  level: 'none' | 'kernel'
  /** Whether a command has any route to a network. */
  network: 'none' | 'host'
  /** True when `egress.socket` is the only egress of a sandbox that has one. */
  gate: boolean
  /** Which limits hold: `cgroup2`, `cgroup1` or `rlimit`. */
  limits: 'cgroup2' | 'cgroup1' | 'rlimit' | 'none'
  /** Whether each sandbox has a user of the host of its own. With a shared one, what it uses up of a user's is the server's too. */
  users: 'own' | 'shared'
}

export interface SandboxProvider {
  readonly name: string
  /** Why no sandbox of its own starts from this image; undefined where it may be tried. */
  refuseImage(reference: string): string | undefined
  /** Host folder of the system that its sandboxes start with, where that is a folder, and others may be laid over it. */
  systemOf(image: string | undefined): string | undefined
  /**
   * What tells an image from another one that its reference named before; undefined where sandboxes start from no image.
   * Fetches what is not there; rejects with `SandboxEnded` when it cannot be had.
   */
  imageOf(reference: string | undefined): Promise<string | undefined>
  /** Whether sandboxes can start on this machine; if not, why, and what mends it. */
  check(): Promise<{ ok: true; isolation: Isolation } | { ok: false; why: string; remedy: string }>
  /** Rejects with `SandboxEnded` when the sandbox does not start; the message says why. */
  acquire(spec: SandboxSpec): Promise<Sandbox>
  /** Ends a sandbox with this id that another process of this machine left behind, if there is one. Idempotent. */
  reap(spec: Pick<SandboxSpec, 'id' | 'workspace'>): Promise<void>
}

/** The sandbox is gone; whatever ran in it may have run in part. */
export class SandboxEnded extends Error {
  override readonly name = 'SandboxEnded'
}
