/** The sources of packages: the public registries, or the operator's own. */
import type { PackageManager } from '@steward/protocol/packages.ts'
import { packageRegistries } from '../egress/policy/registries.ts'

/** The operator's registry URLs, by package manager. */
export type Sources = Partial<Record<PackageManager, string>>

/** The URLs that package managers are given. apt's depends on the system; cargo knows its own. */
const usual: Sources = {
  gem: 'https://rubygems.org',
  go: 'https://proxy.golang.org',
  npm: 'https://registry.npmjs.org/',
  pip: 'https://pypi.org/simple',
}

export const registryOf = (manager: PackageManager, sources: Sources): string =>
  sources[manager] ?? usual[manager] ?? ''

/** The registries of this manager, as `host:port`. */
export function registryHosts(manager: PackageManager, sources: Sources): string[] {
  const own = sources[manager]
  if (own === undefined)
    return packageRegistries[manager].flatMap((host) => [`${host}:80`, `${host}:443`])
  const { hostname, port, protocol } = new URL(own)
  return [`${hostname}:${port || (protocol === 'http:' ? 80 : 443)}`]
}

/** The apt sources of Debian and Ubuntu, with the signing keys of the system itself. */
export function aptSources(release: string, { apt }: Sources): string {
  const value = (name: string) =>
    new RegExp(`^${name}="?([^"\n]*)"?$`, 'm').exec(release)?.[1] ?? ''
  const [id, suite] = [value('ID'), value('VERSION_CODENAME')]
  const line = (address: string, suites: string[], parts: string) =>
    suites.map(
      (each) =>
        `deb [signed-by=/usr/share/keyrings/${id}-archive-keyring.gpg] ${address} ${each} ${parts}\n`,
    )
  if (id === 'debian' && suite) {
    const main = (apt ?? 'http://deb.debian.org/debian').replace(/\/$/, '')
    return [
      ...line(main, [suite, `${suite}-updates`], 'main'),
      ...line(`${main}-security`, [`${suite}-security`], 'main'),
    ].join('')
  }
  if (id === 'ubuntu' && suite) {
    const isPort = process.arch !== 'x64'
    const main = isPort
      ? 'http://ports.ubuntu.com/ubuntu-ports'
      : 'http://archive.ubuntu.com/ubuntu'
    const suites = [suite, `${suite}-updates`, `${suite}-security`]
    return line(apt ?? main, suites, 'main universe').join('')
  }
  throw new Error(`no archive is known for the system ${id || 'of the sandbox'} ${suite}`)
}
