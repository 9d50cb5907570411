import { Readable } from 'node:stream'
import type { SpendSummary } from '@steward/protocol/spend-limits.ts'
import { UsageQuery, UsageShown } from '@steward/protocol/usage.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import type { Ground } from '../../ground/ground.ts'
import { toCsv, usageReport } from './report.ts'

const usage = section('Usage', ['workspace'], '/v1/ext/usage')

export const usageRoutes = ({
  clock,
  spendSummaries,
}: Ground & { spendSummaries: (tenant: string) => Promise<SpendSummary[]> }): Route[] => [
  usage.get(
    '',
    {
      summary: 'Report the usage and cost of the workspace',
      description: 'As CSV with `accept: text/csv` or `format=csv`.',
      query: UsageQuery,
      answer: UsageShown,
      further: [
        { status: 200, answer: 'bytes', mediaTypes: ['text/csv'], description: 'Or as CSV.' },
      ],
    },
    async ({ db, tenant, query, accept }) => {
      const report = await usageReport(db.read, tenant, query, clock.now())
      const isCsv = query.format ? query.format === 'csv' : accept.includes('text/csv')
      if (!isCsv) return { ...report, spend_limits: await spendSummaries(tenant) }
      return {
        reply: 'raw',
        status: 200,
        headers: [
          ['content-type', 'text/csv; charset=utf-8'],
          ['content-disposition', 'attachment; filename="usage.csv"'],
        ],
        body: Readable.from([toCsv(report)]),
      }
    },
  ),
]
