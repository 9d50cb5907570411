/** The system of a sandbox: programs and their settings, from the host or from an unpacked root folder. */
import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { join } from 'node:path'

/** Returns the path under which bubblewrap finds a path of the host. */
export type PathFinder = (path: string) => string

export type SystemRoot = {
  /** Host folder: `/`, or an unpacked root. */
  root: string
  /** Path of `usr` as bubblewrap finds it. */
  usr: string
  /** Host folder whose `etc` covers the root's. */
  layer?: string | undefined
}

const etcPath = '/opt/steward/etc'
const ours = join(import.meta.dirname, 'etc')
const ssl = ['ssl', 'pki']
/**
 * Files of the host's /etc that programs below /usr need. The other files stay hidden: settings of git, npm, pip and
 * Maven may hold credentials.
 */
const borrowed = new Set([
  ...['alternatives', 'ca-certificates', 'ld.so.cache', 'os-release', 'debian_version'],
  ...['mime.types', 'magic', 'protocols', 'services', 'rpc', 'ethertypes'],
  ...['perl', 'fonts', 'terminfo', 'groff', 'ghostscript', 'libreoffice', 'texmf'],
])
/** The same for names that end with a version. Java does not start without its own settings. */
const borrowedVersions = /^(java-|python3|ImageMagick-)/
const isBorrowed = (name: string): boolean => borrowed.has(name) || borrowedVersions.test(name)
const beside = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32']

export function systemArguments(find: PathFinder, { root, usr, layer }: SystemRoot): string[] {
  const isHost = root === '/'
  const own = readdirSync(ours)
  const layered = layer === undefined ? [] : namesIn(join(layer, 'etc'))
  const etc = namesIn(join(root, 'etc'))
  const rooted = isHost ? etc.filter(isBorrowed) : etc
  const shown = (name: string) => !own.includes(name) && !ssl.includes(name)
  const bound = (base: string, path: string) => boundAs(find, join(base, path), `/${path}`)
  return [
    ['--ro-bind', usr, '/usr'],
    ...beside.map((name) => bound(root, name)),
    ...(isHost ? [] : ['var', ...namesIn(join(root, 'opt')).map((name) => `opt/${name}`)]).map(
      (path) => (path === 'opt/steward' ? [] : bound(root, path)),
    ),
    ['--ro-bind', find(ours), etcPath],
    ...own.map((name) => ['--symlink', `${etcPath}/${name}`, `/etc/${name}`]),
    ...layered.filter(shown).map((name) => bound(layer ?? '', `etc/${name}`)),
    ...rooted
      .filter((name) => shown(name) && !layered.includes(name))
      .map((name) => bound(root, `etc/${name}`)),
    ['--proc', '/proc'],
    ['--dev', '/dev'],
  ].flat()
}

function statOf(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false })
}

const namesIn = (folder: string): string[] =>
  statOf(folder)?.isDirectory() ? readdirSync(folder) : []

/** A link stays a link, resolved inside the sandbox. Only files and folders are mounted. */
function boundAs(find: PathFinder, source: string, path: string): string[] {
  const stat = statOf(source)
  if (stat?.isSymbolicLink()) return ['--symlink', readlinkSync(source), path]
  if (stat?.isDirectory() || stat?.isFile()) return ['--ro-bind', find(source), path]
  return []
}
