/** Builds everything from a configuration, and takes it down again. The only room that names an adapter. */
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { furnishFiles } from '@steward/harness/furnish/files/furnish.ts'
import { canConfine } from '@steward/harness/furnish/workspace/confined.ts'
import { tavily } from '@steward/harness/tools/web-search/tavily.ts'
import { preload } from '@steward/model/wire.ts'
import { bubblewrapSandboxes } from '@steward/sandbox/bubblewrap/bubblewrap.ts'
import { dockerSandboxes } from '@steward/sandbox/docker/docker.ts'
import { localSandboxes } from '@steward/sandbox/local.ts'
import { scratchOf } from '@steward/sandbox/scratch.ts'
import type { SandboxLimits, SandboxProvider } from '@steward/sandbox/sandbox.ts'
import { setGlobalDispatcher } from 'undici'
import { authentication } from './api-keys/authenticate.ts'
import { app } from './app.ts'
import type { Blobs } from './blobs/blobs.ts'
import { diskBlobs } from './blobs/disk.ts'
import type { Keeping } from './blobs/keeping.ts'
import { blobKeeping } from './blobs/keeping.ts'
import { s3Blobs } from './blobs/s3.ts'
import type { Bus } from './bus/bus.ts'
import { memoryBus } from './bus/memory.ts'
import { postgresBus } from './bus/postgres.ts'
import type { Config } from './config.ts'
import { addressGuard, guardedAgent, guardedConnector, guardedDial } from './core/dial.ts'
import type { Log } from './core/log.ts'
import { derivedKey } from './core/signed.ts'
import { claimTokens } from './core/claim-token.ts'
import { mcpTokens } from './core/mcp-token.ts'
import type { Seal } from './core/seal.ts'
import { sealUnder } from './core/seal.ts'
import type { Sweep } from './core/sweep.ts'
import type { Clock } from './core/time.ts'
import { systemClock } from './core/time.ts'
import type { Database, Databases, Queries } from './database/database.ts'
import { oneDatabase } from './database/database.ts'
import { postgresDatabase } from './database/postgres.ts'
import { announceRootKey, checkRootKey, withdrawRootKey } from './database/root-key.ts'
import { sqliteDatabase } from './database/sqlite.ts'
import type { EgressOptions } from './egress/egress.ts'
import { egress } from './egress/egress.ts'
import { upstream } from './egress/upstream.ts'
import { inlineTokens } from './egress/inline.ts'
import { append } from './events/log.ts'
import { ring, say } from './events/topics.ts'
import { checkpoints } from './checkpoints/checkpoints.ts'
import { checkpointSweep } from './checkpoints/sweep.ts'
import { heldByCheckpoint } from './checkpoints/store.ts'
import { heldByFile } from './files/store.ts'
import { furnishRepositorySkills } from './skills/repository.ts'
import { skillCatalog } from './skills/catalog.ts'
import { sessionSkills } from './skills/session.ts'
import { heldBySkill } from './skills/store.ts'
import { unpackedSkills, unpackedSweep } from './skills/unpacked.ts'
import { fileSweep } from './files/sweep.ts'
import { listen } from './http/server.ts'
import { furnishMemory } from './memory/furnish.ts'
import { memorySweep } from './memory-stores/sweep.ts'
import { modelResolver, specOfModel } from './model-cards/resolve.ts'
import { assembly } from './runner/assemble.ts'
import { checkSealed } from './root-secret/rotate.ts'
import { runByHarness } from './runner/harnesses.ts'
import { furnishRepositories } from './repositories/furnish.ts'
import { mirrors } from './repositories/mirror.ts'
import { remote } from './repositories/remote.ts'
import { repositoryRows } from './repositories/rows.ts'
import { mirrorSweep } from './repositories/sweep.ts'
import { packagesOf } from './packages/packages.ts'
import { outputPublisher } from './outputs/publish.ts'
import type { Furnish } from './runner/furnishing.ts'
import { runner } from './runner/runner.ts'
import type { WorkspaceDeps } from './runner/workspace.ts'
import { workspaces } from './runner/workspace.ts'
import { belongings } from './sessions/claimed.ts'
import { sessionStore } from './sessions/store.ts'
import { givenFiles } from './sessions/resources/given.ts'
import { claimReader, withinClaim } from './work/claim.ts'
import { stdioSweep } from './stdio-servers/sweep.ts'
import { workSweep } from './work/sweep.ts'
import { openWebhooks } from './webhooks/webhooks.ts'
import { ensureInitialWorkspace } from './workspaces/create.ts'

export const version = '0.1.0'

/** Loaded before their first call; the library of the fourth is large, and is loaded when a model of its needs it. */
const wiresAhead = ['anthropic-messages', 'openai-completions', 'openai-responses'] as const

/** What a test may put in place of a built part. */
export type Overrides = {
  clock?: Clock
  database?: (built: Database) => Database
  /** Where names lead to that no resolver knows. */
  outside?: Pick<EgressOptions, 'connect' | 'dial'>
}

export type Running = { port: number; close(): Promise<void> }

export async function openDatabase(
  config: Config,
  options?: { alone: boolean },
): Promise<Database> {
  if (config.databaseUrl) return postgresDatabase(config.databaseUrl)
  await mkdir(config.dataDir, { recursive: true, mode: 0o711 })
  return sqliteDatabase(join(config.dataDir, 'steward.db'), options)
}

const keysFor = (
  { rootSecret, previousRootSecret }: Config,
  purpose: string,
): [Buffer, ...Buffer[]] => [
  derivedKey(rootSecret, purpose),
  ...(previousRootSecret === undefined ? [] : [derivedKey(previousRootSecret, purpose)]),
]

/** Seals under the one secret, and opens what was sealed under the previous one too. */
export const sealOf = ({ rootSecret, previousRootSecret }: Config): Seal =>
  sealUnder(rootSecret, previousRootSecret === undefined ? [] : [previousRootSecret])

function providerOf(config: Config, log: Log): SandboxProvider {
  const { sandbox, sandboxSocket, sandboxImage, sandboxImages, sandboxRoots } = config
  if (sandbox === 'local') return localSandboxes()
  if (sandbox === 'bubblewrap') return bubblewrapSandboxes({ roots: sandboxRoots })
  return dockerSandboxes({
    name: sandbox,
    socket: sandboxSocket,
    image: sandboxImage,
    ...(sandboxImages.length > 0 && { allowed: sandboxImages }),
    folder: resolve(config.sandboxDir),
    report: (line) => log.info('image', { line }),
  })
}

const onlyAtTheEnd =
  'CHECKPOINTS=idle does no more here than stop: a workspace is put aside while its sandbox runs only where bubblewrap ' +
  'works (apt-get install bubblewrap), and what a machine that dies had changed since its sandbox started is lost'

/** Those that work on this machine; throws, saying how to mend it, when they do not. */
export async function sandboxes(config: Config, log: Log): Promise<SandboxProvider> {
  const provider = providerOf(config, log)
  const checked = await provider.check()
  if (!checked.ok) {
    throw new Error(
      `sandboxes (${provider.name}) do not start here: ${checked.why}. To mend it: ${checked.remedy}`,
    )
  }
  if (config.egressProfile === 'required' && !checked.isolation.gate) {
    throw new Error(
      `EGRESS_PROFILE=required needs sandboxes that have no way around the gate, and those of ${provider.name} have one. ` +
        'To mend it: use SANDBOX_PROVIDER=bubblewrap, docker or podman, or say EGRESS_PROFILE=best_effort or disabled',
    )
  }
  log.info('sandboxes', { provider: provider.name, ...checked.isolation })
  if (config.checkpoints.saving === 'idle' && !(await canConfine())) log.warn(onlyAtTheEnd)
  return provider
}

async function openBlobs({ blobs, dataDir }: Config): Promise<Blobs> {
  if (blobs?.type !== 's3') return diskBlobs(resolve(blobs?.dir ?? join(dataDir, 'blobs')))
  return s3Blobs({
    endpoint: blobs.endpoint,
    bucket: blobs.bucket,
    region: blobs.region,
    accessKeyId: blobs.access_key_id,
    secretAccessKey: blobs.secret_access_key,
    prefix: blobs.prefix,
    pathStyle: blobs.path_style,
  }).catch((cause: unknown) => {
    const why = (cause as Error).message
    throw new Error(`the bucket that STORE_BACKENDS names cannot be used: ${why}`, { cause })
  })
}

const limitsOf = (config: Config): SandboxLimits => ({
  memory: config.sandboxMemory,
  processes: config.sandboxProcesses,
  cpus: config.sandboxCpus,
  scratch: scratchOf(config.sandboxMemory),
})

type SpacesDeps = Pick<WorkspaceDeps, 'provider' | 'bind' | 'clock' | 'log' | 'kinds'> & {
  databases: Databases
  bus: Bus
  keeping: Keeping
}

function spacesOf(
  config: Config,
  { databases, bus, clock, log, provider, bind, keeping, kinds }: SpacesDeps,
) {
  const folder = resolve(config.sandboxDir)
  const isOpen = config.sandbox === 'local' && config.egressProfile === 'best_effort'
  const kept = checkpoints({ databases, keeping, clock, folder, ...config.checkpoints })
  const { largest, workspace } = config.files
  const uploads: Furnish = ({ tenant, session, folder: own }) =>
    furnishFiles(givenFiles({ databases, blobs: keeping.blobs, clock }, tenant, session), {
      ...{ folder: own, workspace: join(own, 'workspace'), isHost: config.sandbox === 'local' },
    })
  const memory = furnishMemory({ databases, clock })
  const outputs = outputPublisher({
    ...{ databases, keeping, clock, isHere: (turned) => kept.isHere(turned) },
    limits: { largest, workspace, turn: 4 * largest },
  })
  return workspaces({
    ...{ provider, bind, clock, log },
    kinds: [...kinds, uploads, memory, ...(config.publishes ? [outputs.kind] : [])],
    publish: async (claimed, own, isRunning) => {
      if (config.publishes) await outputs.publish({ ...claimed, own }, isRunning)
    },
    idleMs: config.sandboxIdleMs,
    session: (tenant, session) => sessionStore(databases.of(tenant).read).row(tenant, session),
    async keep({ tenant, session, generation }, events) {
      const database = databases.of(tenant)
      const fence = { owner: database.owners.self, generation }
      const entries = events.map((event) => ({ event }))
      const unit = (tx: Queries) =>
        append(tx, tenant, session, entries, { now: clock.now(), fence })
      if (await database.write(unit)) say(bus, session, ring)
    },
    isPassable: isOpen,
    folder,
    checkpoints: kept,
    saving: config.checkpoints.saving,
    limits: limitsOf(config),
  })
}

/** Guarded, unless a test leads names elsewhere; from then on every fetch of this process is. */
function outsideOf(
  { egressAllowPrivate }: Config,
  { outside }: Overrides,
): Pick<EgressOptions, 'connect' | 'dial'> {
  const guard = addressGuard(egressAllowPrivate)
  setGlobalDispatcher(guardedAgent(guard))
  if (outside) return outside
  const dial: EgressOptions['dial'] = (target) => guardedDial(guard, target)
  return { connect: guardedConnector(guard, { allowH2: false }), dial }
}

type RepositoriesDeps = Pick<SpacesDeps, 'databases' | 'provider' | 'clock' | 'log'> &
  Pick<EgressOptions, 'seal' | 'connect'>

function repositoriesOf(
  config: Config,
  { databases, seal, provider, clock, log, connect }: RepositoriesDeps,
) {
  const isHost = config.sandbox === 'local'
  const held = mirrors({
    folder: resolve(config.dataDir, 'repositories'),
    key: derivedKey(config.rootSecret, 'repositories'),
    connect: () => remote(upstream(connect), config.repositoryBytes),
    indexing: { provider, limits: limitsOf(config), isHost },
    ...{ clock, log },
  })
  const kept = repositoryRows({ databases, seal, clock })
  const kind = furnishRepositories({ ...kept, ...{ mirrors: held, isHost, clock } })
  const kinds = [kind, furnishRepositorySkills(kept.rows)]
  return { kinds, sweep: mirrorSweep({ mirrors: held, clock, log }) }
}

/** Who may come in, and with which tokens. */
function doorFor(config: Config, deps: { databases: Databases; clock: Clock; bus: Bus }) {
  const tokens = {
    mcpTokens: mcpTokens(...keysFor(config, 'mcp token')),
    claimTokens: claimTokens(...keysFor(config, 'claim token')),
  }
  const claimOf = claimReader({ ...deps, ...tokens })
  return {
    ...tokens,
    authenticate: authentication({ ...deps, ...tokens, claimOf }),
    withinClaim: withinClaim(belongings(deps.databases)),
  }
}

type SweepDeps = { databases: Databases; bus: Bus; clock: Clock; keeping: Keeping; log: Log }

const sweepsOf = ({ work, checkpoints: kept }: Config, deps: SweepDeps): Sweep[] => [
  fileSweep(deps),
  memorySweep(deps),
  workSweep({ ...deps, ...work }),
  stdioSweep(deps),
  checkpointSweep({ ...deps, ...kept }),
]

/** Commands of the local provider reach stores by other paths than those that are looked at. */
const storeAccessOf = ({ sandbox }: Config) => (sandbox === 'local' ? 'read_only' : 'read_write')

function skillsOf(
  config: Config,
  { databases, blobs, clock, log }: { databases: Databases; blobs: Blobs; clock: Clock; log: Log },
) {
  const folder = resolve(config.dataDir, 'skills')
  const catalog = skillCatalog({ databases, blobs })
  return {
    ofSessions: sessionSkills({
      databases,
      unpacked: unpackedSkills({ catalog, clock, folder }),
      hasImages: config.sandbox === 'docker' || config.sandbox === 'podman',
    }),
    sweep: unpackedSweep({ folder, clock, log }),
  }
}

export async function start(config: Config, log: Log, overrides: Overrides = {}): Promise<Running> {
  const { fallbackKeys } = config
  const clock = overrides.clock ?? systemClock
  const seal = sealOf(config)
  const built = await openDatabase(config)
  const database = overrides.database?.(built) ?? built
  const bus = config.databaseUrl ? await postgresBus(config.databaseUrl) : memoryBus()
  const databases = oneDatabase(database)
  await checkRootKey(database, seal)
  await announceRootKey(database, seal)
  await checkSealed(database, seal)
  await ensureInitialWorkspace({ databases, clock }, config.apiKey)

  const blobs = await openBlobs(config)
  const holders = [heldByFile, heldBySkill, heldByCheckpoint]
  const keeping = blobKeeping({ databases, blobs, clock, holders })
  const outside = outsideOf(config, overrides)
  const { connect } = outside
  const ofAll = { databases, clock, log }
  const webhooks = await openWebhooks(config.webhooks, { ...ofAll, bus, seal, connect })
  const waysOut = egress({
    ...{ databases, seal, clock, log },
    profile: config.egressProfile,
    ...outside,
    placeholderKey: derivedKey(config.rootSecret, 'placeholders'),
    ...{ bus, authorityKeys: keysFor(config, 'sandbox authority') },
    folder: resolve(config.dataDir, 'egress'),
  })
  const provider = await sandboxes(config, log)
  const place = config.sandbox === 'local' ? 'host' : 'sandbox'
  const repositories = repositoriesOf(config, { ...ofAll, seal, provider, connect })
  const packages = packagesOf({ ...ofAll, provider, outside, config, limits: limitsOf(config) })
  const skills = skillsOf(config, { ...ofAll, blobs })
  const spaces = spacesOf(config, {
    ...{ databases, bus, clock, log, provider, keeping },
    kinds: [packages.kind, ...repositories.kinds, skills.ofSessions.furnish],
    bind: waysOut.bind,
  })
  const resolveModel = modelResolver({ databases, seal, ...config })
  const { apiKey, baseUrl } = config.webSearch
  const { assemble, forget } = assembly({
    ...{ databases, blobs, clock, log, spaces, place, resolveModel },
    inlineTokens: (row) => inlineTokens(databases.of(row.tenant_id).read, seal, row),
    skills: skills.ofSessions,
    search: apiKey ? tavily({ apiKey, baseUrl }) : null,
  })
  const work = runner({
    ...{ databases, bus, clock, log, assemble, runTurn: runByHarness, most: config.most },
    abandon: async ({ session }) => spaces.stop(session),
    remove: async ({ session }) => {
      forget(session)
      await spaces.remove(session)
    },
  })
  const models = upstream(connect)
  const { server, port } = await listen(
    app({
      ...{ databases, bus, clock, seal, log, fallbackKeys, resolveModel, version },
      ...doorFor(config, { databases, clock, bus }),
      embeddingModel: config.embeddingModel,
      ...{ repositoryHosts: config.repositoryHosts, storeAccess: storeAccessOf(config) },
      refuseImage: (reference) => provider.refuseImage(reference),
      refusePackages: packages.refuse,
      ...{ egress: waysOut, keeping, fileLimits: config.files },
      specOfModel: specOfModel({ databases, seal, fallbackKeys }),
      models,
      ...{ work: config.work, workerInputs: config.workerInputs },
      checkpointBytes: config.checkpoints.largest,
      ...{ publicUrl: config.publicUrl, publishes: config.publishes },
    }),
    config,
  )
  await work.sweep()
  const sweeps = [
    ...sweepsOf(config, { databases, bus, clock, keeping, log }),
    ...[webhooks, repositories.sweep, packages.sweep, skills.sweep],
  ]
  void preload(wiresAhead).catch((error: unknown) =>
    log.warn('model libraries could not be loaded ahead', { error }),
  )

  return {
    port,
    async close() {
      server.close()
      await work.stop()
      server.closeAllConnections()
      await packages.close()
      await spaces.close()
      await waysOut.close()
      await models.close()
      await Promise.all(sweeps.map((sweep) => sweep.close()))
      await bus.close()
      await withdrawRootKey(database)
      await database.close()
    },
  }
}
