/** Creates a run: fixes agent and samples, and inserts a row for each trial. */
import { iso } from '@steward/base/time.ts'
import type { EvalDeps } from './end-trial.ts'
import type { Eval, EvalCreate, EvalPlan, EvalSpec } from '@steward/protocol/evals.ts'
import type { SessionCreate } from '@steward/protocol/sessions.ts'
import { runUnaudited } from '../../ground/core/security/audited-call.ts'
import { invalid } from '../../ground/core/errors.ts'
import { newId } from '../../ground/core/text/ids.ts'
import { releasedLease } from '../../ground/database/lease.ts'
import type { Database, Reads } from '../../ground/database/database.ts'
import { agentStore } from '../../resources/agents/store.ts'
import { environmentStore } from '../../resources/environments/store.ts'
import {
  checkBudget,
  checkSpeed,
  createSession,
  resolveSessionModels,
} from '../../sessions/create.ts'
import { checkExpressions } from './expressions.ts'
import { withFileTexts } from './file-texts.ts'
import { isInspecting } from './inspections.ts'
import { createMatcher } from './text-matchers.ts'
import { computeMean } from './scores.ts'
import type { ResultRow, RunRow } from './store.ts'
import { evalStore } from './store.ts'
import type { RunSamples } from './run-samples.ts'
import { loadRunSamples } from './run-samples.ts'
import { notifyEvals } from './topics.ts'
import { rows } from '../../ground/database/rows.ts'

/** With `dry_run` it writes nothing. */
export async function createRun(
  deps: EvalDeps,
  db: Database,
  tenant: string,
  given: EvalCreate,
): Promise<Eval | EvalPlan> {
  const files = { tenant, read: db.read, blobs: deps.keeping.blobs, now: deps.clock.now() }
  const body = await withFileTexts(files, given)
  const samples = await loadRunSamples(db.read, tenant, body)
  const spec = { ...(await specOf(db.read, tenant, body)), dataset: samples.dataset }
  await checkInspections(db.read, tenant, spec, samples)
  await checkExpressions(spec.graders, createMatcher(deps.matches, tenant))
  await checkSession(deps, db, tenant, toSessionCreate(spec))
  if (body.dry_run) return planOf(db.read, tenant, spec, samples.placed.length)
  const now = deps.clock.now()
  const run = runRow(tenant, spec, body, now)
  const results = samples.placed.flatMap(({ id, position }) =>
    Array.from({ length: spec.trials }, (_, trial) => resultRow(run, { id, position, trial })),
  )
  await db.write(async (tx) => {
    const store = evalStore(tx)
    await rows(tx, 'eval_runs').insert(run)
    await samples.insert(tx, run.id)
    await store.insertResults(results)
    notifyEvals(tx)
  })
  return evalStore(db.read).get(tenant, run.id)
}

/** Refuses samples and graders that inspect a sandbox when the environment is `self_hosted`. */
async function checkInspections(
  read: Reads,
  tenant: string,
  spec: EvalSpec,
  samples: RunSamples,
): Promise<void> {
  const grader = spec.graders.find(isInspecting)?.name ?? samples.inspecting
  if (grader === undefined && samples.prepared === undefined) return
  const { environment_id } = await agentStore(read).get(tenant, spec.agent.id)
  const environment = spec.environment_id ?? environment_id ?? ''
  const { kind } = await environmentStore(read).record(tenant, environment)
  if (kind !== 'self_hosted') return
  const what = grader === undefined ? `setup of sample ${samples.prepared}` : `grader ${grader}`
  throw invalid(
    `environment_id: ${what} needs a sandbox of the service, and ${environment} is self_hosted`,
  )
}

/** Throws the errors that creating a trial's session would throw. Rolls the session back. */
async function checkSession(
  { resolveModel, ...deps }: EvalDeps,
  db: Database,
  tenant: string,
  session: SessionCreate,
): Promise<void> {
  const models = await resolveSessionModels(db.read, tenant, session.agent)
  await checkSpeed({ resolveModel, tenant, models })
  if (session.budget) await checkBudget({ resolveModel, tenant, models })
  const undo = new Error('the session was only tried')
  const trySession = () =>
    db.write(async (tx) => {
      await createSession(tx, tenant, session, {
        ...deps,
        id: newId('session'),
        now: deps.clock.now(),
      })
      throw undo
    })
  await runUnaudited(trySession).catch((error: unknown) => {
    if (error !== undo) throw error
  })
}

/** Estimates the cost of a run from earlier trials of the agent. */
async function planOf(
  read: Reads,
  tenant: string,
  { agent, trials, budget }: EvalSpec,
  samples: number,
): Promise<EvalPlan> {
  const total = samples * trials
  const costs = await evalStore(read).costs(tenant, agent.id)
  const money = (cents: number) => ({ amount: String(Math.ceil(cents)), currency: 'USD' as const })
  return {
    type: 'eval_dry_run',
    samples,
    trials,
    total,
    expected_cost: costs.length === 0 ? null : money(computeMean(costs) * total),
    most_cost: budget && money(Number(budget.max_list_cost.amount) * total),
  }
}

/** The request that creates the session of each trial. */
export const toSessionCreate = (spec: EvalSpec): SessionCreate => ({
  agent: spec.agent,
  environment_id: spec.environment_id,
  vault_ids: spec.vault_ids,
  ...(spec.budget && { budget: spec.budget }),
})

/** Resolves the agent's version; every trial runs this version. [evals/agent-version] */
async function specOf(
  read: Reads,
  tenant: string,
  body: EvalCreate,
): Promise<Omit<EvalSpec, 'dataset'>> {
  const { agent: asked } = body
  const choice = typeof asked === 'string' ? { type: 'agent' as const, id: asked } : asked
  checkTokens(choice)
  const agents = agentStore(read)
  const found =
    choice.version === undefined
      ? await agents.get(tenant, choice.id)
      : await agents.version(tenant, choice.id, choice.version)
  if (found.archived)
    throw invalid(`agent: agent ${found.id} is archived and takes no new sessions`)
  const environment_id = body.environment_id ?? null
  const environment = environment_id ?? found.environment_id
  if (!environment)
    throw invalid('environment_id: is required, because the agent names no environment')
  const baseline_run_id = body.baseline_run_id ?? null
  if (baseline_run_id !== null) await rows(read, 'eval_runs').get(tenant, baseline_run_id)
  return {
    agent: { ...choice, version: found.version },
    environment_id,
    vault_ids: body.vault_ids ?? [],
    graders: body.graders ?? [],
    trials: body.trials,
    max_concurrency: body.max_concurrency,
    timeout_ms: body.timeout_ms,
    budget: body.budget ?? null,
    baseline_run_id,
  }
}

/** Refuses tokens, because a run stores its agent in the clear. */
function checkTokens(choice: Exclude<EvalCreate['agent'], string>): void {
  if (choice.type === 'agent') return
  for (const [index, server] of (choice.mcp_servers ?? []).entries())
    if ('authorization_token' in server && server.authorization_token)
      throw invalid(
        `agent.mcp_servers.${index}.authorization_token: a run takes no tokens; put the token into a vault and name it in vault_ids`,
      )
}

const runRow = (tenant: string, spec: EvalSpec, body: EvalCreate, now: number): RunRow => ({
  tenant_id: tenant,
  id: newId('eval'),
  name: body.name ?? null,
  metadata: body.metadata ?? {},
  agent_id: spec.agent.id,
  status: 'queued',
  spec,
  scores: null,
  ...releasedLease,
  started_at: null,
  ended_at: null,
  created_at: iso(now),
  updated_at: iso(now),
})

const resultRow = (
  { tenant_id, id: run_id, created_at }: RunRow,
  { id, position, trial }: { id: string; position: number; trial: number },
): ResultRow => ({
  tenant_id,
  id: newId('eval_result'),
  run_id,
  position,
  sample_id: id,
  trial,
  status: 'queued',
  step: { posted: 0, inspected: 0 },
  session_id: null,
  scores: [],
  error: null,
  answer: null,
  usage: null,
  duration_ms: null,
  started_at: null,
  ended_at: null,
  created_at,
})
