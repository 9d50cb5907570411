/** What stands in a sandbox's root: the host's /usr, an /etc of our own, our Node and ripgrep under /opt/steward. */
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rgPath } from '@vscode/ripgrep'

export const user = { name: 'user', id: 1000, home: '/home/user' }
export const agentPath = '/opt/steward/agent'
export const ripgrepPath = '/opt/steward/bin/rg'

const etc: Record<string, string> = {
  passwd: `root:x:0:0:root:/root:/bin/bash\n${user.name}:x:${user.id}:${user.id}::${user.home}:/bin/bash\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n`,
  group: `root:x:0:\n${user.name}:x:${user.id}:\nnogroup:x:65534:\n`,
  hosts: '127.0.0.1 localhost sandbox\n::1 localhost\n',
  'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  'resolv.conf': '',
  hostname: 'sandbox\n',
}

/** Folders of the host's /etc that programs below /usr expect; mount points for them are made in ours. */
const borrowed = ['alternatives', 'ssl', 'ca-certificates']

/** Makes the synthetic /etc, readable by every session's user. */
export function makeEtc(folder: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o755 })
  for (const [name, text] of Object.entries(etc)) writeFileSync(join(folder, name), text)
  for (const name of borrowed) mkdirSync(join(folder, name), { recursive: true })
  if (existsSync('/etc/ld.so.cache')) copyFileSync('/etc/ld.so.cache', join(folder, 'ld.so.cache'))
  return folder
}

/** The folder that holds `bin/node`, unless it lies below /usr, which is there anyway. */
export function nodeFolder(): string | undefined {
  const folder = dirname(dirname(process.execPath))
  return folder === '/usr' || folder.startsWith('/usr/') ? undefined : folder
}

export const ripgrepFile: string = rgPath

export const searchPath = [
  '/opt/steward/bin',
  '/opt/steward/node/bin',
  '/usr/local/bin',
  '/usr/bin',
  '/bin',
  '/usr/sbin',
  '/sbin',
].join(':')

/** Arguments of bubblewrap for everything that is the same in all sandboxes but for the paths of its sources. */
export function rootArguments(source: {
  etc: string
  agent: string
  ripgrep: string
  node: string | undefined
}): string[] {
  const links = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'].filter((name) =>
    existsSync(`/usr/${name}`),
  )
  return [
    ['--ro-bind', '/usr', '/usr'],
    ...links.map((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ['--ro-bind', source.etc, '/etc'],
    ...borrowed.map((name) => ['--ro-bind-try', `/etc/${name}`, `/etc/${name}`]),
    ['--proc', '/proc'],
    ['--dev', '/dev'],
    ['--ro-bind', source.agent, agentPath],
    ['--ro-bind', source.ripgrep, ripgrepPath],
    ...(source.node ? [['--ro-bind', source.node, '/opt/steward/node']] : []),
  ].flat()
}
