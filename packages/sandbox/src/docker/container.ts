/** Builds the request for a container without network and privileges, in which only our mounts are writable. */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { rgPath } from '@vscode/ripgrep'
import { daemonBinary } from '../daemon/binary.ts'
import { seccompFilter } from '../bubblewrap/seccomp.ts'
import type { SandboxEgress, SandboxSpec } from '../sandbox.ts'
import { outputsPath } from '../sandbox.ts'
import type { ContainerImage } from './images.ts'

export const userHome = '/home/user'
export const certificatesPath = '/etc/ssl/certs/ca-certificates.crt'
export const ownerLabel = 'steward.sandbox'
const daemonPath = '/opt/steward/sandboxd'
const filterPath = '/opt/steward/filter'
const gatePath = '/opt/steward/gate.sock'
const ripgrepPath = '/opt/steward/bin/rg'

export const containerPaths = {
  bash: '/bin/bash',
  ripgrep: ripgrepPath,
  state: '/run/shell',
  spill: '/tmp',
  workspace: '/workspace',
}

/** Paths where programs look that were not built for Debian. */
const bundlePaths = [
  certificatesPath,
  '/etc/ssl/cert.pem',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/pki/tls/cert.pem',
]

const openFiles = 4_096
/** Address space that a process such as Node reserves and never uses, but that an rlimit counts. */
const reservedBytes = 640 << 20
const cpuPeriod = 100_000

/** The user of the session's processes, by the ids inside the container. */
export type ContainerUser = { id: number; group: number }

/** The abilities with which the engine of this machine starts containers. */
export type EngineAbilities = {
  limits: 'cgroup2' | 'cgroup1' | 'rlimit'
  /** True when memory and swap can be limited together. */
  swap: boolean
  /** `HostConfig.UsernsMode`: which host users the container's users are. */
  users: '' | 'host' | 'keep-id'
  /**
   * Podman gives folders in memory to the user by an option of its own that takes no ids. Without `notmpcopyup` it
   * would copy the image's contents into them.
   */
  isPodman: boolean
  /** True when the server's user is the container's root, without any privilege. */
  isRoot: boolean
}

type ContainerMount = { Type: 'bind'; Source: string; Target: string; ReadOnly: boolean }

const bind = (Source: string, Target: string, ReadOnly: boolean): ContainerMount => ({
  Type: 'bind',
  Source,
  Target,
  ReadOnly,
})

const etc = (user: ContainerUser): Record<string, string> => ({
  hostname: 'sandbox\n',
  hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
  'resolv.conf': 'nameserver 127.0.0.1\noptions attempts:1 timeout:1\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  passwd: passwdOf(user),
  group: user.group === 0 ? 'root:x:0:\n' : `root:x:0:\nuser:x:${user.group}:\nnogroup:x:65534:\n`,
})

function passwdOf({ id, group }: ContainerUser): string {
  const user = `user:x:${id}:${group}::${userHome}:/bin/bash\n`
  if (id === 0) return user
  return `root:x:0:0:root:/root:/bin/bash\n${user}nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n`
}

/** Files of this container, beside the working folder, where the session cannot reach them. */
function ownMounts(workspace: string, user: ContainerUser): ContainerMount[] {
  const folder = join(dirname(workspace), 'container')
  mkdirSync(folder, { recursive: true, mode: 0o711 })
  const write = (name: string, contents: string | Uint8Array, target: string) => {
    writeFileSync(join(folder, name), contents, { mode: 0o644 })
    return bind(join(folder, name), target, true)
  }
  return [
    write('filter', seccompFilter(), filterPath),
    ...Object.entries(etc(user)).map(([name, text]) => write(name, text, `/etc/${name}`)),
  ]
}

/**
 * The outputs, or a folder of this container that has a link in their place. Folders are made beside the link, because
 * nothing can be mounted at a path that a folder for reading lacks.
 */
function outputsMount({ workspace, outputs, outputsAt, mounts }: SandboxSpec): ContainerMount {
  if (outputsAt === undefined) return bind(outputs, outputsPath, false)
  const above = dirname(outputsPath)
  const folder = join(dirname(workspace), 'container', 'session')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  symlinkSync(outputsAt, join(folder, basename(outputsPath)))
  for (const { path } of mounts)
    if (path.startsWith(`${above}/`))
      mkdirSync(join(folder, path.slice(above.length)), { recursive: true })
  return bind(folder, above, true)
}

const egressMounts = (egress: SandboxEgress | null): ContainerMount[] =>
  egress === null
    ? []
    : [
        bind(egress.socket, gatePath, true),
        ...bundlePaths.map((path) => bind(egress.certificates, path, true)),
      ]

/** Volumes of the image become folders in memory, which end with the sandbox; the engine would keep them on disk. */
function scratch(
  spec: SandboxSpec,
  { image, user, abilities }: ContainerStart,
): Record<string, string> {
  const folders = ['/tmp', '/run', '/var/tmp', userHome, containerPaths.state]
  const owner = abilities.isPodman ? 'U,notmpcopyup' : `uid=${user.id},gid=${user.group}`
  const options = (size: number) => `rw,exec,nosuid,nodev,mode=1777,size=${size},${owner}`
  const share = Math.floor(spec.limits.scratch / image.volumes.length)
  const taken = new Set([
    ...spec.mounts.map(({ path }) => path),
    containerPaths.workspace,
    outputsPath,
  ])
  const sized = (paths: readonly string[], size: number) =>
    paths.map((path) => join('/', path, '.')).map((path) => [path, options(size)] as const)
  const all = [...sized(image.volumes, share), ...sized(folders, spec.limits.scratch)]
  return Object.fromEntries(all.filter(([path]) => !taken.has(path)))
}

function limited({ limits }: SandboxSpec, abilities: EngineAbilities): Record<string, unknown> {
  if (abilities.limits === 'rlimit') return {}
  return {
    Memory: limits.memory,
    ...(abilities.swap && { MemorySwap: limits.memory }),
    PidsLimit: limits.processes,
    CpuPeriod: cpuPeriod,
    CpuQuota: Math.round(limits.cpus * cpuPeriod),
  }
}

export type ContainerStart = {
  image: ContainerImage
  user: ContainerUser
  abilities: EngineAbilities
}

/** The body of the request that creates the container. */
export function containerOptions(spec: SandboxSpec, started: ContainerStart): object {
  const { image, user, abilities } = started
  const { memory, processes, file } = spec.limits
  const each =
    abilities.limits === 'rlimit'
      ? ['--processes', String(processes), '--data', String(memory + reservedBytes)]
      : []
  const launch = [daemonPath, 'launch', ...(spec.egress ? ['--network', 'given'] : [])]
  const gate = spec.egress ? ['--gate', gatePath] : []
  return {
    Image: image.id,
    Entrypoint: [
      ...launch,
      '--filter',
      filterPath,
      '--',
      daemonPath,
      ...gate,
      '--files',
      String(openFiles),
      '--file-bytes',
      String(file),
      ...each,
    ],
    Cmd: [],
    WorkingDir: '/',
    Hostname: 'sandbox',
    User: `${user.id}:${user.group}`,
    Labels: { [ownerLabel]: spec.id },
    Healthcheck: { Test: ['NONE'] },
    // When the server dies, the connection closes, and the daemon ends at the end of its input.
    OpenStdin: true,
    StdinOnce: true,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      ReadonlyRootfs: true,
      AutoRemove: true,
      IpcMode: 'private',
      UsernsMode: abilities.users,
      // The engine would store all frames in its log.
      LogConfig: { Type: 'none' },
      // Sysctl of this network namespace only: the bridge listens on ports 53, 80 and 443.
      Sysctls: { 'net.ipv4.ip_unprivileged_port_start': '0' },
      ShmSize: spec.limits.scratch,
      Tmpfs: scratch(spec, started),
      ...limited(spec, abilities),
      Mounts: [
        bind(daemonBinary(), daemonPath, true),
        bind(rgPath, ripgrepPath, true),
        ...ownMounts(spec.workspace, user),
        ...egressMounts(spec.egress),
        bind(spec.workspace, containerPaths.workspace, false),
        outputsMount(spec),
        ...spec.mounts.map(({ source, path, access }) => bind(source, path, access === 'read')),
      ],
    },
  }
}
