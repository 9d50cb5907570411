/** Images of an engine: found locally, or fetched once by reference. */
import { SandboxEnded } from '../sandbox.ts'
import type { Engine } from './engine.ts'
import { EngineError } from './engine.ts'

export type ContainerImage = {
  id: string
  env: Record<string, string>
  /** Folders that the image declares as volumes. */
  volumes: string[]
}

/** Receives progress lines, for people, while an image is fetched. */
export type ReportProgress = (line: string) => void

export type ImageStore = {
  /** Fetches the image when the engine does not have it. Rejects with `SandboxEnded`, whose message says why. */
  find(reference: string, report: ReportProgress): Promise<ContainerImage>
}

const architectures: Record<string, string> = { x64: 'amd64', arm64: 'arm64' }

export function createImageStore(engine: Engine): ImageStore {
  const pulling = new Map<string, Promise<void>>()
  return {
    async find(reference, report) {
      const refused = refuseReference(reference)
      if (refused) throw new SandboxEnded(`${reference} is ${refused}`)
      const name = withTag(reference)
      const found = await inspect(engine, name)
      if (found) return found
      const pulled = pulling.get(name) ?? pull(engine, name, report)
      pulling.set(name, pulled)
      await pulled.finally(() => pulling.delete(name))
      const image = await inspect(engine, name)
      if (image) return image
      throw new SandboxEnded(`the image ${reference} was fetched and is not there`)
    },
  }
}

const part = '[a-z0-9]+(?:(?:\\.|_{1,2}|-+)[a-z0-9]+)*'
const host = '[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?(?::[0-9]{1,5})?'
const form = new RegExp(
  `^(?:${host}/)?${part}(?:/${part})*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`,
)
const longest = 384

/** The reason why this is no reference; undefined for a valid one. Only the engine knows whether the image exists. */
export const refuseReference = (reference: string): string | undefined =>
  reference.length <= longest && form.test(reference)
    ? undefined
    : 'not the reference of an image, such as docker.io/library/debian:bookworm'

export function refuseUnlisted(reference: string, allowed: readonly string[]): string | undefined {
  const isListed = allowed.some((each) =>
    each.endsWith('*') ? reference.startsWith(each.slice(0, -1)) : reference === each,
  )
  return isListed ? undefined : `none of the images of this server: ${allowed.join(', ')}`
}

/** Adds a tag. Without one the engine would fetch all tags. */
function withTag(reference: string): string {
  const last = reference.slice(reference.lastIndexOf('/') + 1)
  return reference.includes('@') || last.includes(':') ? reference : `${reference}:latest`
}

async function inspect(engine: Engine, name: string): Promise<ContainerImage | undefined> {
  const found = await engine.call('GET', `/images/${name}/json`).catch((error: unknown) => {
    if (error instanceof EngineError && error.status === 404) return undefined
    throw error
  })
  if (found === undefined) return undefined
  const { Id, Architecture, Config } = found as {
    Id: string
    Architecture?: string
    Config?: { Env?: string[] | null; Volumes?: Record<string, object> | null } | null
  }
  const own = architectures[process.arch]
  if (Architecture && Architecture !== own) {
    throw new SandboxEnded(`the image ${name} is for ${Architecture}, and this machine is ${own}`)
  }
  return {
    id: Id,
    env: variablesOf(Config?.Env ?? []),
    volumes: Object.keys(Config?.Volumes ?? {}),
  }
}

function variablesOf(lines: readonly string[]): Record<string, string> {
  const pairs = lines.map((line) => {
    const at = line.indexOf('=')
    return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)]
  })
  return Object.fromEntries(pairs)
}

type PullProgress = { status?: string; id?: string; error?: string }

/** Reports the phases of each layer, and not each number of bytes. */
async function pull(engine: Engine, name: string, report: ReportProgress): Promise<void> {
  report(`fetching the image ${name}`)
  let last = ''
  try {
    for await (const line of engine.follow(
      'POST',
      `/images/create?fromImage=${encodeURIComponent(name)}`,
    )) {
      const { status, id, error } = line as PullProgress
      if (error !== undefined) throw new EngineError(error, 0)
      const said = [id, status].filter(Boolean).join(': ')
      if (status === undefined || said === last) continue
      last = said
      report(said)
    }
  } catch (cause) {
    if (!(cause instanceof EngineError)) throw cause
    throw new SandboxEnded(`the image ${name} cannot be fetched: ${cause.message}`, { cause })
  }
}
