/**
 * Sandboxes by a container engine of this machine, Docker or Podman: a container for each sandbox, with one stream to
 * its daemon.
 */
import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { runOnce } from '@steward/base/shared-runs.ts'
import { egressVariables } from '../egress/variables.ts'
import { chownFolders, chownSocket, sessionUser } from '../ownership.ts'
import { remoteSandbox } from '../daemon-sandbox.ts'
import type { Isolation, Sandbox, SandboxProvider, SandboxSpec } from '../sandbox.ts'
import { SandboxEnded } from '../sandbox.ts'
import { tryProvider } from '../trial.ts'
import { demultiplexOutput } from './attached-stream.ts'
import type { ContainerUser, EngineAbilities } from './container.ts'
import {
  certificatesPath,
  containerOptions,
  userHome,
  ownerLabel,
  containerPaths,
} from './container.ts'
import type { Engine } from './engine.ts'
import { engineAt, EngineError } from './engine.ts'
import type { ContainerImage, ImageStore, ReportProgress } from './images.ts'
import { createImageStore, refuseReference, refuseUnlisted } from './images.ts'

export type DockerOptions = {
  name: 'docker' | 'podman'
  /**
   * Path of the engine's unix socket; by default the usual path. The engine runs on this machine and sees its folders.
   */
  socket?: string | undefined
  /** Image for sandboxes that name none. */
  image: string
  /** Image references that specs may name; a trailing `*` matches any ending. Undefined allows all. */
  allowed?: readonly string[]
  /**
   * Parent of the working folders, which the engine must see under the same path; by default the folder of temporary
   * files.
   */
  folder?: string
  /** Called while an image is fetched. */
  report?: ReportProgress
  /** Milliseconds since 1970. */
  now?: () => number
  /** Delay between two attempts to remove a container while the engine does not answer, in ms. */
  againMs?: number
}

const maxErrorChars = 2_000
const goneWithinMs = 30_000
const startedWithinMs = 60_000
const leftBehindSeconds = 600
const usualPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const environment = { HOME: userHome, USER: 'user', LANG: 'C.UTF-8', TERM: 'dumb' }
const egressEnv = egressVariables('http://127.0.0.1:3128', certificatesPath)

type DockerDeps = {
  engine: Engine
  images: ImageStore
  image: string
  report: ReportProgress
  againMs: number
}

export function dockerSandboxes({
  name,
  socket = usualSocket(name),
  image,
  allowed,
  folder,
  report = () => {},
  now = Date.now,
  againMs = 5_000,
}: DockerOptions): SandboxProvider {
  const engine = engineAt(socket)
  const deps: DockerDeps = { engine, images: createImageStore(engine), image, report, againMs }
  const abilities = runOnce(() => readAbilities(engine))
  const refuseImage = (reference: string) =>
    refuseReference(reference) ?? (allowed && refuseUnlisted(reference, allowed))
  /** Checks an image that a tenant has named. The operator's own image is always allowed. */
  function demand(reference: string | undefined): void {
    const refused = reference === undefined ? undefined : refuseImage(reference)
    if (refused !== undefined) throw new SandboxEnded(`${reference} is ${refused}`)
  }
  return {
    name,
    refuseImage,
    systemOf: () => undefined,
    imageOf: (reference) =>
      orEnded('cannot start', async () => {
        demand(reference)
        return (await deps.images.find(reference ?? image, report)).id
      }),
    async check() {
      try {
        await removeUnstarted(engine, now() / 1000)
        await tryProvider(async (spec) => start(deps, spec, await abilities()), folder)
      } catch (error) {
        if (!(error instanceof SandboxEnded || error instanceof EngineError)) throw error
        return {
          ok: false,
          why: error.message,
          remedy: remedyFor(error.message, { name, socket, image }),
        }
      }
      const { limits, isRoot } = await abilities()
      const users = sessionUser('') === undefined || isRoot ? 'shared' : 'own'
      return { ok: true, isolation: { ...isolation, limits, users } }
    },
    acquire: (spec) =>
      orEnded('did not start', async () => {
        demand(spec.image)
        return start(deps, spec, await abilities())
      }),
    reap: ({ id }) =>
      orEnded('could not be ended', async () => {
        const all = await containers(engine, { label: [`${ownerLabel}=${id}`] })
        await Promise.all(all.map((each) => remove(engine, each.Id)))
      }),
  }
}

async function orEnded<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof SandboxEnded) throw cause
    throw new SandboxEnded(`the sandbox ${what}: ${(cause as Error).message}`, { cause })
  }
}

function usualSocket(name: DockerOptions['name']): string {
  const uid = process.getuid?.() ?? 0
  if (name === 'docker') return '/run/docker.sock'
  return uid === 0 ? '/run/podman/podman.sock' : `/run/user/${uid}/podman/podman.sock`
}

const isolation = {
  level: 'kernel',
  network: 'none',
  gate: true,
} as const satisfies Partial<Isolation>

function remedyFor(
  why: string,
  { name, socket, image }: Required<Pick<DockerOptions, 'name' | 'socket' | 'image'>>,
): string {
  if (/ENOENT|ECONNREFUSED/.test(why)) {
    return name === 'podman'
      ? `apt-get install podman, and start its API: podman system service --time=0 unix://${socket}; or name another socket in SANDBOX_SOCKET`
      : `install Docker (apt-get install docker.io) and start it, or name another socket than ${socket} in SANDBOX_SOCKET`
  }
  if (/EACCES/.test(why)) return `let the server's user use ${socket}, as a member of its group`
  if (/image/.test(why))
    return `fetch it with ${name} pull ${image}, or name another one in SANDBOX_IMAGE`
  return 'see docs/sandboxes.md'
}

type EngineInfo = {
  OSType?: string
  CgroupVersion?: string
  MemoryLimit?: boolean
  PidsLimit?: boolean
  CpuCfsQuota?: boolean
  SwapLimit?: boolean
  SecurityOptions?: string[] | null
  Rootless?: boolean
  BuildahVersion?: string
}

/** With cgroup v1 a rootless engine can set no limits, whatever it reports. */
function limitsOf(info: EngineInfo): EngineAbilities['limits'] {
  if (!info.MemoryLimit || !info.PidsLimit || !info.CpuCfsQuota) return 'rlimit'
  if (info.CgroupVersion === '2') return 'cgroup2'
  const { users, isRoot } = usersOf(info)
  return users === 'keep-id' || isRoot ? 'rlimit' : 'cgroup1'
}

async function readAbilities(engine: Engine): Promise<EngineAbilities> {
  const info = (await engine.call('GET', '/info')) as EngineInfo
  if (info.OSType !== undefined && info.OSType !== 'linux')
    throw new SandboxEnded(`the engine starts ${info.OSType} containers, and not Linux ones`)
  return {
    limits: limitsOf(info),
    swap: info.SwapLimit === true,
    isPodman: info.BuildahVersion !== undefined,
    ...usersOf(info),
  }
}

/** Rootless Podman reports this in a field of its own. */
function usersOf({
  SecurityOptions,
  Rootless,
}: EngineInfo): Pick<EngineAbilities, 'users' | 'isRoot'> {
  const options = (SecurityOptions ?? []).join(' ')
  if (Rootless === true) return { users: 'keep-id', isRoot: false }
  const isRemapped = /\bname=userns\b/.test(options)
  return { users: isRemapped ? 'host' : '', isRoot: /\bname=rootless\b/.test(options) }
}

function userOf(uid: number | undefined, { isRoot }: EngineAbilities): ContainerUser {
  if (isRoot) return { id: 0, group: 0 }
  if (uid !== undefined) return { id: uid, group: uid }
  return { id: process.getuid?.() ?? 0, group: process.getgid?.() ?? 0 }
}

/** Rejects with `SandboxEnded` or the engine's error, and leaves nothing behind then. */
async function start(
  deps: DockerDeps,
  spec: SandboxSpec,
  abilities: EngineAbilities,
): Promise<Sandbox> {
  const reference = spec.image ?? deps.image
  if (spec.layer !== undefined) throw new SandboxEnded('nothing can be laid over an image')
  const image = await deps.images.find(reference, deps.report)
  const uid = sessionUser(spec.id)
  await chownFolders(spec, uid)
  if (spec.egress && uid !== undefined) chownSocket(spec.egress.socket, uid)
  const body = containerOptions(spec, { image, user: userOf(uid, abilities), abilities })
  const path = `/containers/create?name=steward-${spec.id}-${randomUUID().slice(0, 8)}`
  const { Id } = (await deps.engine.call('POST', path, body)) as { Id: string }
  const attached = await attach(deps.engine, Id)
  const sandbox = await begin(deps, { spec, image, id: Id, attached })
  const bash = await sandbox.read(containerPaths.bash, { offset: 0, maxBytes: 1 })
  if (bash.ok) return sandbox
  await sandbox.close()
  throw new SandboxEnded(
    `the image ${reference} has no ${containerPaths.bash}, which commands run in`,
  )
}

async function attach(engine: Engine, id: string): Promise<Duplex> {
  try {
    return await engine.hijack(`/containers/${id}/attach?stream=1&stdin=1&stdout=1&stderr=1`)
  } catch (error) {
    await remove(engine, id)
    throw error
  }
}

type NewContainer = { spec: SandboxSpec; image: ContainerImage; id: string; attached: Duplex }

async function begin(
  { engine, againMs }: DockerDeps,
  { spec, image, id, attached }: NewContainer,
): Promise<Sandbox> {
  let errors = ''
  const output = demultiplexOutput(attached, (bytes) => {
    if (errors.length < maxErrorChars) errors += bytes.toString()
  })
  const path = [...(spec.path ?? []), '/opt/steward/bin', image.env['PATH'] ?? usualPath].join(':')
  const opening = remoteSandbox({
    id: spec.id,
    stream: { input: attached, output },
    paths: containerPaths,
    env: { ...image.env, ...environment, PATH: path, ...spec.env, ...(spec.egress && egressEnv) },
    spillMax: spec.limits.scratch,
    patience: { readyMs: startedWithinMs, killedMs: 5_000 },
    async stop() {
      attached.destroy()
      await remove(engine, id).catch((error: unknown) => {
        if (!(error instanceof EngineError)) throw error
        void removeLater(engine, id, againMs)
      })
    },
  })
  const starting = engine.call('POST', `/containers/${id}/start`).catch((error: Error) => {
    attached.destroy()
    throw error
  })
  const [started, opened] = await Promise.allSettled([starting, opening])
  if (started.status === 'rejected') throw started.reason
  if (opened.status === 'fulfilled') return opened.value
  const cause = opened.reason as Error
  throw new SandboxEnded(`the sandbox did not start: ${errors.trim() || cause.message}`, { cause })
}

type ListedContainer = { Id: string; Created: number }

async function containers(
  engine: Engine,
  filters: Record<string, string[]>,
): Promise<ListedContainer[]> {
  const query = encodeURIComponent(JSON.stringify(filters))
  return (await engine.call(
    'GET',
    `/containers/json?all=true&filters=${query}`,
  )) as ListedContainer[]
}

/** Removes containers that a server created and did not start before it died. A started container removes itself. */
async function removeUnstarted(engine: Engine, nowSeconds: number): Promise<void> {
  const all = await containers(engine, {
    label: [ownerLabel],
    status: ['created', 'exited'],
  })
  const old = all.filter(({ Created }) => nowSeconds - Created > leftBehindSeconds)
  await Promise.all(old.map(({ Id }) => remove(engine, Id)))
}

/**
 * Closing the connection ends the daemon, and with it the container. An engine that restarts while its containers live
 * holds their end of the connection open, so the container is removed as well.
 */
async function removeLater(engine: Engine, id: string, againMs: number): Promise<void> {
  for (;;) {
    await delay(againMs, undefined, { ref: false })
    const failed = await remove(engine, id).catch((error: unknown) => error)
    if (failed === undefined) return
  }
}

/** Ends the container and resolves when it is gone, also when another process removes it. */
async function remove(engine: Engine, id: string): Promise<void> {
  const deadline = performance.now() + goneWithinMs
  for (;;) {
    try {
      await engine.call('DELETE', `/containers/${id}?force=true&v=true`)
      return
    } catch (error) {
      if (!(error instanceof EngineError) || error.status === 0) throw error
      if (error.status === 404) return
      if (performance.now() > deadline) throw error
    }
    await delay(10)
  }
}
