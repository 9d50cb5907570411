/** The hosts that sessions in containers reach, and the container engine that runs them. */
import { connect } from 'node:net'
import { join } from 'node:path'
import { engineAt } from '@steward/sandbox/docker/engine.ts'
import type { EngineKind } from '@steward/sandbox/docker/fixture.ts'
import { engineSetup, startEngine, testImage } from '@steward/sandbox/docker/fixture.ts'
import { standIn } from '@steward/sandbox/docker/stand-in-fixture.ts'
import { connectTo, echo, upstreamServer } from '@steward/server/engine/egress/fixture.ts'
import { startRegistries } from '@steward/server/engine/installs/registry-fixture.ts'
import { gitServer } from '@steward/server/engine/repositories/git-fixture.ts'
import type { NameOverride } from '@steward/server/start/diallers.ts'

/** A git server at api.example, registries at registry.test, and an echo at every other name. */
export async function upstreams() {
  const [git, registries, api] = await Promise.all([
    gitServer(),
    startRegistries(),
    upstreamServer(echo),
  ])
  const hosts = {
    'api.example': connectTo(git.server),
    'registry.test': registries.registry.connect,
  }
  const connectorOf = (host: string) => hosts[host as keyof typeof hosts] ?? connectTo(api)
  const outside: NameOverride = {
    connect: (options, callback) => connectorOf(options.hostname)(options, callback),
    dial: async ({ host }) =>
      connect(host === 'api.example' ? git.server.port : api.port, '127.0.0.1'),
  }
  const sources = Object.entries(registries.sources).map((pair) => pair.join('='))
  return {
    ...{ git, registries, outside, env: { PACKAGE_REGISTRIES: sources.join(',') } },
    async [Symbol.asyncDispose]() {
      for (const each of [git, registries, api]) await each[Symbol.asyncDispose]()
    },
  }
}

export type Upstreams = Awaited<ReturnType<typeof upstreams>>

/** The fields of `GET /containers/{id}/json` that tests read. */
export type InspectedContainer = {
  Mounts: { Source: string; Destination: string; RW: boolean }[]
  HostConfig: {
    NetworkMode: string
    Privileged: boolean
    PidMode: string
    Devices: unknown[] | null
    CapAdd: string[] | null
    Memory: number
    PidsLimit: number
    CpuQuota: number
  }
}

/** Starts an engine whose image is made of this machine's packages, with git, curl and pip. */
export async function containerEngine(kind: EngineKind) {
  const setup = engineSetup(kind)
  /** An address on which no server listens. */
  const registryAddress = '127.0.0.1:9'
  const running = await startEngine(kind, setup, registryAddress, ['git', 'curl', 'python3-pip'])
  const engine = engineAt(setup.socket)
  const between = await standIn(join(setup.folder, 'stand-in.sock'), setup.socket)
  return {
    ...{ kind, registryAddress },
    env: { SANDBOX_PROVIDER: kind, SANDBOX_SOCKET: setup.socket, SANDBOX_IMAGE: testImage },
    /** A socket of the same engine, which can be cut off. */
    between,
    /** Ids of the containers of a session, in any state. */
    async containers(session: string): Promise<string[]> {
      const filters = encodeURIComponent(JSON.stringify({ label: [`steward.sandbox=${session}`] }))
      const path = `/containers/json?all=true&filters=${filters}`
      return ((await engine.call('GET', path)) as { Id: string }[]).map(({ Id }) => Id)
    },
    inspect: async (id: string) =>
      (await engine.call('GET', `/containers/${id}/json`)) as InspectedContainer,
    /** Removes a container as another user of the engine would. */
    kill: (id: string) => engine.call('DELETE', `/containers/${id}?force=true`),
    async stop() {
      await between[Symbol.asyncDispose]()
      await running.stop()
    },
  }
}
export type ContainerEngine = Awaited<ReturnType<typeof containerEngine>>
