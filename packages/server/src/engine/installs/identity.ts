/** The identity of a layer: the packages, their sources, and the system below them. */
import { createHash } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { packageManagers } from '@steward/protocol/packages.ts'
import type { SandboxProvider } from '@steward/sandbox/sandbox.ts'
import type { WantedInstalls } from './build.ts'
import type { Sources } from './sources.ts'

/** Raise when a build would lay its files out differently, so that old layers are not used. */
const format = 1

/** Packages without a version are installed in the newest version of the day of the build. */
export function createLayerIdentifier(provider: SandboxProvider, sources: Sources, image: string) {
  const known = new Map<string, { stamp: string; hash: string }>()

  /** Hash of the list of installed packages in a system folder, if there is a list. Read again only after a change. */
  async function systemHash(root: string): Promise<string> {
    for (const path of ['var/lib/dpkg/status', 'etc/os-release']) {
      const file = join(root, path)
      const found = await stat(file).catch(() => undefined)
      if (!found) continue
      const stamp = `${found.mtimeMs} ${found.size} ${found.ino}`
      const last = known.get(file)
      if (last?.stamp === stamp) return last.hash
      const hash = createHash('sha256')
        .update(await readFile(file))
        .digest('hex')
      known.set(file, { stamp, hash })
      return hash
    }
    return root
  }

  return async ({ packages, image: own }: WantedInstalls): Promise<string> => {
    const root = provider.systemOf(own)
    const used = packageManagers.filter((manager) => packages[manager].length > 0)
    const parts = {
      format,
      provider: provider.name,
      machine: [process.arch, process.versions.node],
      image: (await provider.imageOf(own)) ?? own ?? image,
      system: root === undefined ? null : await systemHash(root),
      packages: used.map((manager) => [manager, [...new Set(packages[manager])].toSorted()]),
      sources: used.map((manager) => sources[manager] ?? null),
    }
    return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  }
}
