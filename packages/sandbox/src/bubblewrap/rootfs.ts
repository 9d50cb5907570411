/** The root of a sandbox: a system, an /etc of its own, and our Node and ripgrep below /opt/steward. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rgPath } from '@vscode/ripgrep'
import { daemonBinary } from '../daemon/binary.ts'
import type { SandboxEgress, SandboxSpec } from '../sandbox.ts'
import { outputsPath } from '../sandbox.ts'
import type { PathFinder, SystemRoot } from './system.ts'
import { systemArguments } from './system.ts'

export const sandboxUser = { name: 'user', id: 1000, home: '/home/user' }
export const ripgrepPath = '/opt/steward/bin/rg'
export const daemonPath = '/opt/steward/sandboxd'
export const gatePath = '/opt/steward/gate.sock'
export const certificatesPath = '/etc/ssl/certs/ca-certificates.crt'
const nodePath = '/opt/steward/node'

export const searchPath = [
  '/opt/steward/bin',
  `${nodePath}/bin`,
  '/usr/local/bin',
  '/usr/bin',
  '/bin',
  '/usr/sbin',
  '/sbin',
].join(':')

/** Java's certificate store has its own format and does not contain the gate's authority. */
const trusted = ['openssl.cnf', 'certs/java']
/** Paths where programs look that were not built for Debian. */
const bundleLinks = [
  '/etc/ssl/cert.pem',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/pki/tls/cert.pem',
]

/**
 * Mounts the Node binary and npm, and not the folder around them, which may hold anything. Below /usr they are visible
 * anyway.
 */
function nodeArguments(find: PathFinder, root: string): string[] {
  const folder = dirname(dirname(process.execPath))
  if (root === '/' && (folder === '/usr' || folder.startsWith('/usr/'))) return []
  const binary = ['--ro-bind', find(process.execPath), `${nodePath}/bin/node`]
  const npm = join(folder, 'lib/node_modules/npm')
  if (!existsSync(join(npm, 'bin/npm-cli.js'))) return binary
  const programs = ['npm', 'npx'].flatMap((name) => [
    ...['--symlink', `../lib/node_modules/npm/bin/${name}-cli.js`, `${nodePath}/bin/${name}`],
  ])
  return [...binary, '--ro-bind', find(npm), `${nodePath}/lib/node_modules/npm`, ...programs]
}

/** Certificates: the host's authorities, or the bundle of the sandbox's gate. */
function trustArguments(find: PathFinder, root: string, egress: SandboxEgress | null): string[] {
  const own = (name: string) => {
    const source = join(root, 'etc/ssl', name)
    return existsSync(source) ? ['--ro-bind', find(source), join('/etc/ssl', name)] : []
  }
  if (egress === null) return own('')
  return [
    ...trusted.flatMap(own),
    ...['--ro-bind', find(egress.certificates), certificatesPath],
    ...bundleLinks.flatMap((link) => ['--symlink', certificatesPath, link]),
    ...['--ro-bind', find(egress.socket), gatePath],
  ]
}

/** Folders in memory, which end with the sandbox. */
function scratchArguments(bytes: number): string[] {
  const folder = (path: string, mode: string) => [
    ...['--perms', mode, '--size', String(bytes), '--tmpfs', path],
  ]
  return [
    ...folder('/tmp', '1777'),
    ...folder('/run', '0755'),
    ...folder(sandboxUser.home, '0755'),
    ...folder('/dev/shm', '1777'),
    ...['--perms', '0700', '--dir', '/run/shell'],
  ]
}

const outputArguments = (
  find: PathFinder,
  { outputs, outputsAt }: Pick<SandboxSpec, 'outputs' | 'outputsAt'>,
): string[] =>
  outputsAt === undefined
    ? ['--bind', find(outputs), outputsPath]
    : ['--symlink', outputsAt, outputsPath]

/**
 * All mounts of a sandbox. Writable are only the folders in memory, the session's two folders, and mounts with `write`.
 */
export function rootArguments(
  find: PathFinder,
  system: SystemRoot,
  { workspace, egress, mounts, limits: { scratch }, ...outputs }: SandboxSpec,
): string[] {
  const ways = { read: '--ro-bind', write: '--bind' } as const
  return [
    ...systemArguments(find, system),
    ...trustArguments(find, system.root, egress),
    ...nodeArguments(find, system.root),
    ...['--ro-bind', find(daemonBinary()), daemonPath, '--ro-bind', find(rgPath), ripgrepPath],
    ...scratchArguments(scratch),
    ...['--bind', find(workspace), '/workspace'],
    ...outputArguments(find, outputs),
    ...mounts.flatMap(({ source, path, access }) => [ways[access], find(source), path]),
    ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', '/workspace'],
  ]
}
