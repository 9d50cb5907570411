/** A registry with one package. Its install script searches the sandbox, prints a word and fails. */
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export const registryHost = 'registry.api.example'
export const curious = 'curious'
const [name, version] = [curious, '1.0.0']

/** Returns the bytes of the registry by path. */
export async function registryOf(word: string): Promise<Map<string, Buffer>> {
  const folder = await mkdtemp(join(tmpdir(), 'steward-test-'))
  const look = "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\\0' '\\n' | tail -c 2000"
  const manifest = { name, version, scripts: { install: `env; ${look}; echo ${word}; exit 3` } }
  await mkdir(join(folder, 'package'))
  await writeFile(join(folder, 'package/package.json'), JSON.stringify(manifest))
  await promisify(execFile)('tar', ['-czf', 'it.tgz', 'package'], { cwd: folder })
  const archive = await readFile(join(folder, 'it.tgz'))
  await rm(folder, { recursive: true })
  const dist = { tarball: `https://${registryHost}/it.tgz` }
  const versions = { [version]: { ...manifest, hasInstallScript: true, dist } }
  const all = { name, 'dist-tags': { latest: version }, versions }
  return new Map([
    [`/${name}`, Buffer.from(JSON.stringify(all))],
    ['/it.tgz', archive],
  ])
}
