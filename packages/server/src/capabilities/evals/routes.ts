import { Readable } from 'node:stream'
import type { EvalDeps } from './end-trial.ts'
import {
  CompareQuery,
  EvalComparisonShown,
  EvalCreate,
  EvalListQuery,
  EvalPlanShown,
  ExportQuery,
  EvalResultShown,
  EvalShown,
  ResultListQuery,
} from '@steward/protocol/evals.ts'
import { contentBody } from '../../ground/http/limits.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { z } from 'zod'
import { invalid } from '../../ground/core/errors.ts'
import { cancelRun } from './cancel.ts'
import { compareRuns } from './compare-runs.ts'
import { createRun } from './create.ts'
import { exportRun, exportTypes } from './export.ts'
import { evalStore, showResult } from './store.ts'
import { toEvalCreate } from './tasks.ts'
import { rows } from '../../ground/database/rows.ts'

const evals = section('Evals', ['workspace'], '/v1/ext/evals')

export function evalRoutes(deps: EvalDeps): Route[] {
  const { clock } = deps
  return [
    ...evals.plain(
      { one: 'an eval', many: 'evals', item: '/:id', answer: EvalShown },
      {
        create: {
          summary: 'Start an eval',
          description: 'Each trial is a session of its own.',
          body: EvalCreate,
          limits: contentBody,
          answer: z.union([EvalShown, EvalPlanShown]),
          run: ({ db, tenant, body }) => createRun(deps, db, tenant, toEvalCreate(body)),
        },
        list: {
          query: EvalListQuery,
          scope: 'evals',
          rows: ({ db, tenant, query }, paging) => evalStore(db.read).list(tenant, paging, query),
        },
        get: { run: ({ db, tenant, params }) => evalStore(db.read).get(tenant, params.id) },
      },
    ),
    evals.post(
      '/:id/cancel',
      {
        summary: 'Cancel an eval',
        description: 'Interrupts its running trials. What was scored stays.',
        answer: EvalShown,
      },
      async ({ db, tenant, params }) => {
        await db.write((tx) => cancelRun(tx, tenant, params.id, clock.now()))
        return evalStore(db.read).get(tenant, params.id)
      },
    ),
    evals.get(
      '/:id/export',
      {
        summary: 'Export the trials of an eval',
        description: 'As JSON lines, or with `format=junit` for test runners.',
        query: ExportQuery,
        answer: 'bytes',
        mediaTypes: Object.values(exportTypes),
      },
      async ({ db, tenant, params, query: { format } }) => {
        const run = await rows(db.read, 'eval_runs').get(tenant, params.id)
        return {
          reply: 'raw',
          status: 200,
          headers: [
            ['content-type', `${exportTypes[format]}; charset=utf-8`],
            [
              'content-disposition',
              `attachment; filename="${run.id}.${format === 'junit' ? 'xml' : 'jsonl'}"`,
            ],
          ],
          body: Readable.from(exportRun(db.read, run, format)),
        }
      },
    ),
    evals.get(
      '/:id/compare',
      {
        summary: 'Compare an eval with a baseline',
        description: 'Says what got better, what got worse, and what may be chance.',
        query: CompareQuery,
        answer: EvalComparisonShown,
      },
      async ({ db, tenant, params, query }) => {
        const store = evalStore(db.read)
        const { spec } = await rows(db.read, 'eval_runs').get(tenant, params.id)
        const baseline = query.baseline ?? spec.baseline_run_id
        if (!baseline)
          throw invalid('baseline: is required, because the run names no baseline_run_id')
        await rows(db.read, 'eval_runs').get(tenant, baseline)
        const [before, now] = [
          await store.compared(tenant, baseline),
          await store.compared(tenant, params.id),
        ]
        return compareRuns(before, now)
      },
    ),
    evals.list(
      '/:id/results',
      {
        summary: 'List the trials of an eval',
        query: ResultListQuery,
        answer: EvalResultShown,
      },
      {
        scope: ({ id }) => `evals/${id}/results`,
        check: ({ db, tenant, params }) => rows(db.read, 'eval_runs').get(tenant, params.id),
        rows: ({ db, tenant, params, query }, paging) =>
          evalStore(db.read).results(tenant, params.id, paging, {
            status: query.status,
            sample: query.sample_id,
          }),
        show: showResult,
      },
    ),
  ]
}
