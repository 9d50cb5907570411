/** The row of a new session, after a check of everything that its agent version needs. */
import type { ForkedFrom } from '@steward/protocol/forks.ts'
import type { SessionAgent } from '@steward/protocol/sessions.ts'
import { iso } from '@steward/base/time.ts'
import type { ActingThing } from '../ground/core/security/audited-call.ts'
import { creatorOf } from '../ground/core/creator.ts'
import { invalid, recordText } from '../ground/core/errors.ts'
import type { Json } from '../ground/core/text/json-text.ts'
import { toJson } from '../ground/core/text/json-text.ts'
import type { Seal } from '../ground/core/security/seal.ts'
import type { Queries } from '../ground/database/database.ts'
import type { SealedTokens } from '../ground/database/tables/agents.ts'
import type { Tokens } from '../resources/agents/config.ts'
import { archivedEnvironment, environmentStore } from '../resources/environments/store.ts'
import { vaultStore } from '../resources/vaults/store.ts'
import type { ResourceRequest } from './resources/kind.ts'
import type { ResourceKinds } from './resources/kinds.ts'
import type { Refusals } from './resources/supported.ts'
import {
  checkAgentSupport,
  checkEnvironmentSupport,
  checkInputs,
  checkToolsForWorker,
  checkVaultForWorker,
} from './resources/supported.ts'
import type { Roster } from './rows/roster.ts'
import type { ShownSessionRow } from './rows/sessions.ts'
import { tokenContext } from './rows/sessions.ts'

export type RowDeps = Refusals & { now: number; seal: Seal; kinds: ResourceKinds }

/** `tokens`: undefined when the tokens of the agent version apply. `wanted`: resources to attach. */
export type NewSessionParts = {
  id: string
  agent: SessionAgent
  tokens: Tokens | undefined
  environmentId: string | null
  vaultIds: readonly string[]
  wanted: readonly ResourceRequest[]
  title: string | null
  metadata: Record<string, string>
  rosterFor: (isElsewhere: boolean) => Promise<Roster>
  forkedFrom: ForkedFrom | null
  deploymentId: string | null
  outputsPath: string | null
  /** What makes the session, where no caller does. */
  actor?: ActingThing | undefined
}

export async function newRow(
  tx: Queries,
  tenant: string,
  made: NewSessionParts,
  { now, seal, kinds, ...refusals }: RowDeps,
): Promise<ShownSessionRow> {
  const { id, agent, tokens, environmentId, vaultIds, wanted } = made
  if (!environmentId)
    throw invalid('environment_id: is required, because the agent names no environment')
  const environment = await environmentStore(tx).getOpenForShare(tenant, environmentId)
  if (environment.archived) throw archivedEnvironment(environmentId)
  const isElsewhere = environment.record.kind === 'self_hosted'
  checkAgentSupport(agent, isElsewhere)
  if (isElsewhere) {
    checkInputs(kinds, wanted, refusals.workerInputs)
    checkToolsForWorker(agent)
  } else checkEnvironmentSupport(environment.record, refusals)
  for (const [index, vault] of vaultIds.entries()) {
    await vaultStore(tx).getOpenForShare(tenant, vault, `vault_ids.${index}`)
    if (isElsewhere) await checkVaultForWorker(tx, tenant, vault, `vault_ids.${index}`)
  }
  const at = iso(now)
  return {
    tenant_id: tenant,
    id,
    agent_id: agent.id,
    agent_version: agent.version,
    agent: recordText('agent', agent),
    environment_id: environmentId,
    self_hosted: isElsewhere ? 1 : 0,
    title: made.title,
    metadata: toJson(made.metadata),
    vault_ids: toJson([...vaultIds]),
    sealed_tokens: tokens ? sealTokens(seal, { tenant, id }, tokens) : null,
    files_revision: 0,
    archived_at: null,
    deleted_at: null,
    created_at: at,
    updated_at: at,
    roster: await made.rosterFor(isElsewhere),
    forked_from: made.forkedFrom && toJson(made.forkedFrom),
    deployment_id: made.deploymentId,
    allowances: null,
    outputs_path: made.outputsPath,
    ...creatorOf(made.actor),
  }
}

/** Seals the inline tokens of this session. */
export const sealTokens = (
  seal: Seal,
  { tenant, id }: { tenant: string; id: string },
  tokens: Tokens,
): Json<SealedTokens> =>
  toJson(
    Object.fromEntries(
      Object.entries(tokens).map(([server, token]) => [
        server,
        seal.seal(token, tokenContext(tenant, id, server)),
      ]),
    ),
  )
