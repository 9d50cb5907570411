/** The images of a release, as archives that `podman load` and `docker load` take. */
import { execFile, spawnSync } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../house/sources.ts'
import type { ReleaseContext } from './parts.ts'
import { commitOf } from './source.ts'

const execute = promisify(execFile)
const targets = ['server', 'worker'] as const
/** Names of architectures as images have them. Another one than the machine's needs the kernel's help to run it. */
const architectures = ['amd64', 'arm64'] as const
const ownArchitecture = process.arch === 'arm64' ? 'arm64' : 'amd64'

const engineHere = (): 'podman' | 'docker' | undefined =>
  (['podman', 'docker'] as const).find((name) => spawnSync(name, ['info']).status === 0)

/** Other images to begin with, where a registry of one's own has them. */
const baseArguments = (): string[] =>
  ['NODE_IMAGE', 'DEBIAN_IMAGE'].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : ['--build-arg', `${name}=${value}`]
  })

/** Returns the names of the archives. Throws where no engine can be had, or one refuses this machine's architecture. */
export async function archiveImages(
  { out, version, time }: ReleaseContext,
  packed: string,
  say: (text: string) => void,
): Promise<string[]> {
  const engine = engineHere()
  if (!engine) throw new Error('images need Podman or Docker: apt-get install podman')
  const given = await mkdtemp(join(tmpdir(), 'steward-image-'))
  const made: string[] = []
  try {
    await cp(join(out, packed), join(given, packed))
    for (const target of targets)
      for (const architecture of architectures) {
        const name = `steward-${version}-${target}-${architecture}.tar`
        const tag = `${target === 'server' ? 'steward' : 'steward-worker'}:${version}`
        const about = {
          VERSION: version,
          REVISION: commitOf(),
          CREATED: new Date(time * 1000).toISOString(),
        }
        const build = [
          ...['build', '--platform', `linux/${architecture}`, '--target', target, '--tag', tag],
          ...(engine === 'podman' ? ['--format', 'docker', '--timestamp', String(time)] : []),
          ...Object.entries(about).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]),
          ...['--build-context', `package=${given}`, '--file', 'deploy/Containerfile'],
          ...baseArguments(),
          '.',
        ]
        const failure = await execute(engine, build, { cwd: root, maxBuffer: 64 << 20 }).then(
          () => undefined,
          (error: Error) => error,
        )
        if (failure && architecture === ownArchitecture) throw failure
        if (failure) {
          say(`no ${name}: this builder cannot build for ${architecture}`)
          continue
        }
        await execute(engine, ['save', '--output', join(out, name), tag])
        made.push(name)
      }
  } finally {
    await rm(given, { recursive: true, force: true })
  }
  return made
}
