/**
 * Reads secrets that credentials refer to, when they are used. A secret is remembered for seconds and never longer: when
 * its manager is away after that, the call fails. Each read is in the audit before its secret is used.
 */
import { iso } from '@steward/base/time.ts'
import type { SecretReference } from '@steward/protocol/secret-references.ts'
import type { SecretManager } from '@steward/secret-managers/secret-manager.ts'
import type { Ground } from '../../../ground/ground.ts'
import { auditStore } from '../../../tenants/audit/store.ts'
import { createShortMemory } from './short-memory.ts'
import type { ReadResult } from './words.ts'
import { refusalOf } from './words.ts'

/** A secret manager as the operator has set it up. */
export type ConfiguredManager = {
  /** The path below which the workspace reads. Undefined: the workspace may not use this manager. */
  prefixOf: (tenant: string) => string | undefined
  read: SecretManager['read']
}

/** For whom a secret is read. A value that is remembered serves other readers of the workspace too. */
export type SecretReader = {
  tenant: string
  session: string | null
  vault: string | null
  credential: string | null
  /** The key or person that has the reference tried. */
  actor: string | null
}

/** SECRET: never logged. `message` is for the caller, and holds no word of the manager about the operator's setup. */
export type ReferenceReading =
  | { ok: true; value: string }
  | { ok: false; why: ReadResult; message: string }

/** Longest time for which a secret is used after the request for it began. */
export const rememberedMs = 5_000
/** A remembered secret that an upstream refuses is read anew, unless it is younger. */
const leastMs = 1_000
/** Longest time of one read, with its second attempt. */
const patienceMs = 10_000

export type CompanySecrets = ReturnType<typeof createCompanySecrets>

export function createCompanySecrets({
  databases,
  clock,
  log,
  managers,
}: Ground & { managers: ReadonlyMap<string, ConfiguredManager> }) {
  const memory = createShortMemory<ReferenceReading>({ clock, keepMs: rememberedMs })
  const closed = new AbortController()

  async function request(
    reader: SecretReader,
    reference: SecretReference,
  ): Promise<ReferenceReading> {
    const manager = managers.get(reference.manager)
    const prefix = manager?.prefixOf(reader.tenant)
    if (!manager || prefix === undefined) {
      await record(reader, reference, { result: 'not_allowed', version: null })
      return { ok: false, why: 'not_allowed', message: refusalOf('not_allowed', reference, '') }
    }
    const began = clock.now()
    const name = prefix + reference.name
    const signal = AbortSignal.any([AbortSignal.timeout(patienceMs), closed.signal])
    const found = await manager.read({ ...reference, name }, signal)
    await record(reader, reference, {
      result: found.ok ? 'read' : found.why,
      version: (found.ok ? found.version : reference.version) ?? null,
    })
    if (found.ok) return { ok: true, value: found.value }
    log.warn('a secret manager gave no secret', {
      tenant_id: reader.tenant,
      manager: reference.manager,
      name,
      why: found.why,
      said: found.words,
      ms: clock.now() - began,
    })
    return { ok: false, why: found.why, message: refusalOf(found.why, reference, found.words) }
  }

  async function record(
    { tenant, session, vault, credential, actor }: SecretReader,
    { manager, name, field }: SecretReference,
    outcome: { result: ReadResult | 'read'; version: string | null },
  ): Promise<void> {
    const database = await databases.open(tenant)
    const row = {
      tenant_id: tenant,
      session_id: session,
      vault_id: vault,
      credential_id: credential,
      actor_id: actor,
      manager,
      name,
      field: field ?? null,
      ...outcome,
      created_at: iso(clock.now()),
    }
    await database.write((tx) => auditStore(tx).secretRead(row))
  }

  function read(
    reader: SecretReader,
    reference: SecretReference,
    youngerThanMs?: number,
  ): Promise<ReferenceReading> {
    const { manager, name, field, version } = reference
    const key = JSON.stringify([reader.tenant, manager, name, field, version])
    return memory.share(key, () => request(reader, reference), youngerThanMs)
  }

  return {
    /** Calls at the same time share one read. Rejects when the read could not be written to the audit. */
    read: (reader: SecretReader, reference: SecretReference): Promise<ReferenceReading> =>
      read(reader, reference),
    /** For a secret that an upstream has refused: it may have been rotated. */
    readAnew: (reader: SecretReader, reference: SecretReference): Promise<ReferenceReading> =>
      read(reader, reference, leastMs),
    close(): void {
      closed.abort()
      memory.close()
    },
  }
}
