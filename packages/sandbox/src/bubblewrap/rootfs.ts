/** What stands in a sandbox's root: the host's /usr, an /etc of our own, our Node and ripgrep under /opt/steward. */
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rgPath } from '@vscode/ripgrep'
import { agentBinary } from '../agent/binary.ts'
import type { SandboxEgress, SandboxSpec } from '../sandbox.ts'

export const user = { name: 'user', id: 1000, home: '/home/user' }
export const ripgrepPath = '/opt/steward/bin/rg'
export const agentPath = '/opt/steward/agent'
export const gatePath = '/opt/steward/gate.sock'
export const certificatesPath = '/etc/ssl/certs/ca-certificates.crt'
const etcPath = '/opt/steward/etc'
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

/** What programs below /usr expect in /etc. */
const borrowed = ['alternatives', 'ca-certificates', 'ld.so.cache']
/** Java has a store of its own format, in which the gate is unknown. */
const trusted = ['openssl.cnf', 'certs/java']
/** Where programs look that were not built for Debian. */
const bundleLinks = [
  '/etc/ssl/cert.pem',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/pki/tls/cert.pem',
]

/** How bubblewrap finds a path of the host. */
type Find = (path: string) => string

function systemArguments(find: Find): string[] {
  const links = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'].filter((name) =>
    existsSync(`/usr/${name}`),
  )
  const etc = join(import.meta.dirname, 'etc')
  return [
    ['--ro-bind', '/usr', '/usr'],
    ...links.map((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ['--ro-bind', find(etc), etcPath],
    ...readdirSync(etc).map((name) => ['--symlink', `${etcPath}/${name}`, `/etc/${name}`]),
    ...borrowed.map((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    ['--proc', '/proc'],
    ['--dev', '/dev'],
  ].flat()
}

/** The binary and npm, and not the folder around them, which may be anything. Below /usr they are there anyway. */
function nodeArguments(find: Find): string[] {
  const folder = dirname(dirname(process.execPath))
  if (folder === '/usr' || folder.startsWith('/usr/')) return []
  const binary = ['--ro-bind', find(process.execPath), `${nodePath}/bin/node`]
  const npm = join(folder, 'lib/node_modules/npm')
  if (!existsSync(join(npm, 'bin/npm-cli.js'))) return binary
  const programs = ['npm', 'npx'].flatMap((name) => [
    ...['--symlink', `../lib/node_modules/npm/bin/${name}-cli.js`, `${nodePath}/bin/${name}`],
  ])
  return [...binary, '--ro-bind', find(npm), `${nodePath}/lib/node_modules/npm`, ...programs]
}

/** Trust in the host's authorities or, for a sandbox that has a gate, in what is given with it. */
function trustArguments(find: Find, egress: SandboxEgress | null): string[] {
  if (egress === null) return ['--ro-bind-try', '/etc/ssl', '/etc/ssl']
  return [
    ...trusted.flatMap((name) => ['--ro-bind-try', `/etc/ssl/${name}`, `/etc/ssl/${name}`]),
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
    ...folder(user.home, '0755'),
    ...folder('/dev/shm', '1777'),
    ...['--perms', '0700', '--dir', '/run/shell'],
  ]
}

/** Everything in a sandbox's view; only the folders in memory, the session's two and what is mounted so can be written. */
export function rootArguments(
  find: Find,
  { workspace, outputs, egress, mounts, limits: { scratch } }: SandboxSpec,
): string[] {
  const ways = { read: '--ro-bind', write: '--bind' } as const
  return [
    ...systemArguments(find),
    ...trustArguments(find, egress),
    ...nodeArguments(find),
    ...['--ro-bind', find(agentBinary()), agentPath, '--ro-bind', find(rgPath), ripgrepPath],
    ...scratchArguments(scratch),
    ...['--bind', find(workspace), '/workspace', '--bind', find(outputs), '/mnt/session/outputs'],
    ...mounts.flatMap(({ source, path, access }) => [ways[access], find(source), path]),
    ...['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', '/workspace'],
  ]
}
