/**
 * Runs a deployment for a request signed with its secret. The request names the workspace, which finds the database.
 * Attack: a caller without the secret must not learn what exists, so all refusals have the same words.
 */
import type { DeploymentRun } from '@steward/protocol/deployments.ts'
import type { OpenSessionDeps } from '../../sessions/open.ts'
import { PlatformError, unauthorized } from '../../ground/core/errors.ts'
import { rateLimitError } from '../../ground/http/rate-limits.ts'
import { newSecret } from '../../tenants/webhooks/sign.ts'
import { openIfInUse } from '../../tenants/workspaces/in-use.ts'
import { checkSignature } from '../integrations/deliveries/check-signature.ts'
import { fencedBody } from '../integrations/deliveries/fence.ts'
import { runForDelivery } from './run-deployment.ts'
import { openTriggerSecrets } from './trigger-secrets.ts'
import { rows } from '../../ground/database/rows.ts'

export type SignedRequest = {
  workspace: string
  id: string
  header: (name: string) => string | undefined
  body: string
  /** Address of the caller. */
  address: string
}

const signatureHeaders = ['webhook-id', 'webhook-timestamp', 'webhook-signature']

const unknownTrigger = (id: string) =>
  new PlatformError(
    'not_found',
    `deployment ${id} is not run by this request: its URL, its webhook-id, webhook-timestamp and webhook-signature, or the secret that signs it is wrong`,
  )

/** A secret that nobody has: signatures for missing deployments are checked too, so that the time reveals nothing. */
const secretOfNobody = newSecret()

export async function triggerDeployment(
  deps: OpenSessionDeps,
  { workspace, id, header, body, address }: SignedRequest,
): Promise<DeploymentRun> {
  const { clock, limits } = deps
  const db = await openIfInUse(deps.databases, workspace)
  const row = db && (await rows(db.read, 'deployments').find(workspace, id))
  const secrets = row ? openTriggerSecrets(deps.seal, row, clock.now()) : []
  const headers = Object.fromEntries(signatureHeaders.map((name) => [name, header(name)]))
  const delivery = { headers, body: Buffer.from(body) }
  const known = secrets.length > 0 ? secrets : [secretOfNobody]
  const check = checkSignature(delivery, known, clock.now())
  if (check.kind === 'refused') {
    await limits.admit('failures', address)
    if (check.reason === 'stale')
      throw unauthorized('webhook-timestamp: must be of the last 5 minutes, in seconds')
    throw unknownTrigger(id)
  }
  if (!db) throw unknownTrigger(id)
  await countRequest(deps, workspace)
  const ref = { db, tenant: workspace }
  return runForDelivery(deps, ref, id, { id: check.id, data: fencedBody(body) })
}

async function countRequest({ limits }: OpenSessionDeps, workspace: string): Promise<void> {
  const verdict = await limits.requests?.count(workspace, 'sessions')
  if (verdict && !verdict.isAdmitted) throw rateLimitError(verdict, 'sessions', 'this workspace')
}
