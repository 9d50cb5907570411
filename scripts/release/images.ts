/** The images of a release, as archives that `podman load` and `docker load` take. */
import { execFile, spawnSync } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sandboxSettings } from '@steward/sandbox/settings.ts'
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

type Archive = {
  /** Of the file, without version and architecture. */
  name: string
  tag: string
  /** The words behind the engine's name that bring the image of an architecture to this machine. */
  bring: (architecture: string) => string[]
}

/** The images of this version, and the one that `SANDBOX_PROVIDER=docker` and `podman` start sandboxes from. */
function archivesOf({ version, time }: ReleaseContext, engine: string, given: string): Archive[] {
  const about = {
    VERSION: version,
    REVISION: commitOf(),
    CREATED: new Date(time * 1000).toISOString(),
  }
  const built = targets.map((target): Archive => {
    const tag = `${target === 'server' ? 'steward' : 'steward-worker'}:${version}`
    const bring = (architecture: string) => [
      ...['build', '--platform', `linux/${architecture}`, '--target', target, '--tag', tag],
      ...(engine === 'podman' ? ['--format', 'docker', '--timestamp', String(time)] : []),
      ...Object.entries(about).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]),
      ...['--build-context', `package=${given}`, '--file', 'deploy/Containerfile'],
      ...baseArguments(),
      '.',
    ]
    return { name: target, tag, bring }
  })
  const sandbox = process.env['SANDBOX_IMAGE'] ?? sandboxSettings.image.default ?? ''
  const pull = (architecture: string) => ['pull', '--platform', `linux/${architecture}`, sandbox]
  return [...built, { name: 'sandbox', tag: sandbox, bring: pull }]
}

/** Returns the names of the archives. Throws where no engine can be had, or one refuses this machine's architecture. */
export async function archiveImages(
  context: ReleaseContext,
  packed: string,
  say: (text: string) => void,
): Promise<string[]> {
  const { out, version } = context
  const engine = engineHere()
  if (!engine) throw new Error('images need Podman or Docker: apt-get install podman')
  const run = (words: string[]) => execute(engine, words, { cwd: root, maxBuffer: 64 << 20 })
  const given = await mkdtemp(join(tmpdir(), 'steward-image-'))
  const made: string[] = []
  try {
    await cp(join(out, packed), join(given, packed))
    for (const { name, tag, bring } of archivesOf(context, engine, given))
      for (const architecture of architectures) {
        const file = `steward-${version}-${name}-${architecture}.tar`
        const failure = await run(bring(architecture)).then(
          () => undefined,
          (error: Error) => error,
        )
        if (failure && (context.isWhole || architecture === ownArchitecture)) throw failure
        if (failure) {
          say(`no ${file}: this engine has it not for ${architecture}: ${failure.message}`)
          continue
        }
        await run(['save', '--output', join(out, file), tag])
        made.push(file)
      }
  } finally {
    await rm(given, { recursive: true, force: true })
  }
  return made
}
