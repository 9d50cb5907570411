/** The mounts in the sandboxes of sessions: files, memory stores, repositories, skills, outputs. */
import { join, resolve } from 'node:path'
import type { SandboxProvider } from '@steward/sandbox/sandbox.ts'
import { mountFiles } from '@steward/space/files/mount.ts'
import type { ResourceType } from '@steward/protocol/session-resources.ts'
import { mountUser } from '@steward/space/working-folder/user.ts'
import type { Rules } from '../ground/core/rules/rules.ts'
import type { Connector } from '../ground/core/security/dial.ts'
import type { Share } from '../ground/core/fairness/share.ts'
import type { Blobs } from '../ground/blobs/blobs.ts'
import type { BlobKeeping } from '../ground/blobs/blob-keeping.ts'
import type { Config } from '../ground/config/config.ts'
import { derivedKey } from '../ground/core/security/signed-tokens.ts'
import type { Queries } from '../ground/database/database.ts'
import type { Ground } from '../ground/ground.ts'
import type { Egress } from '../engine/egress/egress.ts'
import { createUpstream } from '../engine/egress/inject/upstream.ts'
import { appendEntries } from '../sessions/log/append.ts'
import { readHead } from '../sessions/log/head.ts'
import { createCheckpoints } from '../resources/checkpoints/checkpoints.ts'
import { mountRepositorySkills } from '../resources/skills/repository.ts'
import { skillCatalog } from '../resources/skills/catalog.ts'
import { sessionSkills } from '../resources/skills/session.ts'
import { unpackedJob, unpackedSkills } from '../resources/skills/unpacked-skills.ts'
import { mountMemory } from '../engine/memory/mount.ts'
import { mountRepositories } from '../engine/repositories/mount.ts'
import { createMirrors } from '../engine/repositories/mirror.ts'
import { createRemote } from '../engine/repositories/remote.ts'
import { repositoryRows } from '../engine/repositories/rows.ts'
import { mountSetup } from '../engine/installs/setup-commands.ts'
import { outputPublisher } from '../engine/outputs/publish.ts'
import type { MountKind } from '../engine/runner/sandboxes/mount-kind.ts'
import { whileWaiting } from '../engine/runner/sandboxes/mount-kind.ts'
import { processWaits } from '../engine/runner/process-waits.ts'
import { hourMs } from '@steward/base/settings/kinds.ts'
import { diskQuota } from '@steward/space/working-folder/quota.ts'
import type { DiskSpace } from '@steward/sandbox/disk.ts'
import type { Quotas } from '../tenants/limits/quotas.ts'
import { leftFolderJob, leftFolders } from '../engine/runner/sandboxes/left-folders.ts'
import { leftOutputsJob } from '../engine/outputs/publish-left.ts'
import { sandboxPool } from '../engine/runner/sandboxes/sandbox-pool.ts'
import { tellUnreachableHosts } from '../engine/runner/unreachable-hosts.ts'
import { sessionStore } from '../sessions/rows/sessions.ts'
import { givenFiles } from '../sessions/resources/file-source.ts'
import { configuredLimits } from './sandboxes.ts'

type PoolParts = Ground & {
  provider: SandboxProvider
  bind: Egress['bind']
  /** The tenants' shares of this process's sandboxes. */
  share: Share
  keeping: BlobKeeping
  quotas: Quotas
  rules: Rules
  mounts: Record<'packages' | 'repositories' | 'repositorySkills' | 'skills', MountKind>
}

export function createSandboxPool(config: Config, deps: PoolParts) {
  const { databases, clock, log, provider, keeping, mounts, quotas } = deps
  const folder = resolve(config.sandboxDir)
  const isOpen = config.sandbox === 'local' && config.egressProfile === 'best_effort'
  const kept = createCheckpoints({ ...deps, folder, ...config.checkpoints })
  const { largest } = config.files
  const uploads: MountKind = async ({ tenant, session, folder: own }) => {
    const source = givenFiles(
      await databases.open(tenant),
      { blobs: keeping.blobs, clock },
      tenant,
      session,
    )
    const isHost = config.sandbox === 'local'
    return mountFiles(source, { folder: own, workspace: join(own, 'workspace'), isHost })
  }
  const user: MountKind = ({ folder: own }) => mountUser(join(own, 'user'))
  /** The type requires a mount for each type of resource. */
  const ofResources: Record<ResourceType, MountKind> = {
    github_repository: mounts.repositories,
    file: uploads,
    memory_store: mountMemory(deps),
  }
  const quota = diskQuota({
    folder,
    beside: [resolve(config.dataDir)],
    ...config.disk,
    report: (message, details) => log.warn(message, details),
  })
  const outputs = outputPublisher({
    ...deps,
    isHere: (turned) => kept.isHere(turned),
    limits: { largest, turn: 4 * largest },
  })
  const made = sandboxPool({
    ...deps,
    kinds: [
      (target) => quota.kind({ ...target, may: () => folderQuota(quotas, target.tenant, config) }),
      whileWaiting('packages', mounts.packages),
      whileWaiting('files', ofResources.github_repository),
      mounts.repositorySkills,
      mounts.skills,
      whileWaiting('files', ofResources.file),
      user,
      ofResources.memory_store,
      ...(config.publishes ? [outputs.kind] : []),
      mountSetup,
      tellUnreachableHosts,
    ],
    publish: async (claimed, own, isRunning) => {
      if (config.publishes) await outputs.publish({ ...claimed, own }, isRunning)
    },
    idleMs: config.sandboxIdleMs,
    session: async (tenant, session) =>
      sessionStore((await databases.open(tenant)).read).row(tenant, session),
    async isOurs({ tenant, session, generation }) {
      const { read, owners } = await databases.open(tenant)
      const head = await readHead(read, tenant, session)
      return head.owner === owners.self && head.generation === generation
    },
    async keep({ tenant, session, generation }, events) {
      const database = await databases.open(tenant)
      const fence = { owner: database.owners.self, generation }
      const entries = events.map((event) => ({ event }))
      const unit = (tx: Queries) =>
        appendEntries(tx, tenant, session, entries, { now: clock.now(), fence })
      await database.write(unit)
    },
    waits: processWaits(deps),
    isPassable: isOpen,
    folder,
    checkpoints: kept,
    saving: config.checkpoints.saving,
    limits: configuredLimits(config),
  })
  const remove = (session: string) => made.remove(session)
  const left = { ...deps, folder, remove }
  return {
    ...made,
    /** Stop the job before `close`. */
    job: leftFolderJob(left),
    jobs: config.publishes ? [leftOutputsJob({ ...deps, outputs, folder })] : [],
    /** Removes all left folders at once. The job removes a few in each run. */
    async removeLeft(): Promise<void> {
      const removeSome = leftFolders(left)
      while (!(await removeSome()));
    },
    async close() {
      await made.close()
      await provider.close?.()
      await quota.close()
    },
  }
}

/** The most that the folders of one session may hold. */
const folderQuota = (quotas: Quotas, tenant: string, { disk }: Config): DiskSpace => ({
  bytes: quotas.known(tenant, 'folder_bytes') ?? disk.session.bytes,
  files: quotas.known(tenant, 'folder_files') ?? disk.session.files,
})

export function createRepositories(
  config: Config,
  deps: Ground & {
    provider: SandboxProvider
    connect: Connector<'tenant'>
    /** The tenants' shares of this process's requests, fetches and indexings. */
    share: Share
  },
) {
  const { provider, connect, clock } = deps
  const isHost = config.sandbox === 'local'
  const held = createMirrors({
    ...deps,
    folder: resolve(config.dataDir, 'repositories'),
    key: derivedKey(config.rootSecret, 'repositories'),
    connect: () => createRemote(createUpstream(connect), config.repositoryBytes),
    indexing: { provider, limits: configuredLimits(config), isHost },
  })
  const kept = repositoryRows(deps)
  const kind = mountRepositories({ ...kept, mirrors: held, isHost, clock })
  const skills = mountRepositorySkills(kept.rows)
  const job = { name: 'remove unused mirrors', everyMs: hourMs, run: () => held.removeUnused() }
  return { kind, skills, job }
}

export function createSkills(config: Config, { databases, clock }: Ground, blobs: Blobs) {
  const folder = resolve(config.dataDir, 'skills')
  const catalog = skillCatalog({ databases, blobs })
  return {
    ofSessions: sessionSkills({
      databases,
      unpacked: unpackedSkills({ catalog, clock, folder }),
      hasImages: config.sandbox === 'docker' || config.sandbox === 'podman',
    }),
    job: unpackedJob({ folder, clock }),
  }
}
