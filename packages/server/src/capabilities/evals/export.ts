/** The trials of a run as a file: JSON lines, or the JUnit XML of test runners. */
import type { ExportFormat } from '@steward/protocol/evals.ts'
import type { Sample } from '@steward/protocol/samples.ts'
import type { Reads } from '../../ground/database/database.ts'
import type { ResultRow, RunRow } from './store.ts'
import { evalStore, showResult } from './store.ts'

export const exportTypes: Record<ExportFormat, string> = {
  jsonl: 'application/jsonl',
  junit: 'application/xml',
}

export async function* exportRun(
  read: Reads,
  run: RunRow,
  format: ExportFormat,
): AsyncGenerator<string> {
  if (format === 'jsonl') {
    yield* linesOf(read, run)
    return
  }
  const { counts } = await evalStore(read).get(run.tenant_id, run.id)
  const ended = counts.total - counts.queued - counts.running - counts.canceled
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n`
  yield `<testsuite name="${xml(run.name ?? run.id)}" tests="${ended}" failures="${counts.failed}" errors="${counts.errored}">\n`
  for await (const row of trialsOf(read, run)) yield caseOf(row)
  yield '</testsuite>\n</testsuites>\n'
}

/** The trials of one sample follow each other, so that each sample is read once. */
async function* linesOf(read: Reads, run: RunRow): AsyncGenerator<string, void, void> {
  let id: string | undefined
  let sample: Sample | undefined
  for await (const row of trialsOf(read, run)) {
    if (row.sample_id !== id) {
      id = row.sample_id
      sample = await evalStore(read).sample(run.tenant_id, run.id, id)
    }
    yield lineOf(row, sample)
  }
}

/** Trials that are read at once, with their answers. */
const trialsAtOnce = 20

async function* trialsOf(
  read: Reads,
  { tenant_id: tenant, id }: RunRow,
): AsyncGenerator<ResultRow, void, void> {
  for (let after: ResultRow | undefined; ;) {
    const rows = await evalStore(read).trials(tenant, id, {
      limit: trialsAtOnce,
      ...(after && { after }),
    })
    yield* rows
    after = rows.at(-1)
    if (!after) return
  }
}

function lineOf(row: ResultRow, sample: Sample | undefined): string {
  const { input, expected = null, metadata = null, tags = [] } = sample ?? {}
  return `${JSON.stringify({ ...showResult(row), input, expected, metadata, tags })}\n`
}

function caseOf(row: ResultRow): string {
  const { status, sample_id, trial, duration_ms, scores, error } = row
  if (status === 'queued' || status === 'running' || status === 'canceled') return ''
  const name = `${sample_id}, trial ${trial + 1}`
  const seconds = ((duration_ms ?? 0) / 1000).toFixed(3)
  const head = `<testcase classname="${xml(sample_id)}" name="${xml(name)}" time="${seconds}"`
  if (status === 'passed') return `${head}/>\n`
  const failed = scores.filter(({ passed }) => !passed)
  const text = error
    ? error.message
    : failed.map(({ grader, explanation }) => `${grader}: ${explanation}`).join('\n')
  const kind = status === 'errored' ? 'error' : 'failure'
  const type = error?.type ?? failed.map(({ grader }) => grader).join(', ')
  return `${head}>\n<${kind} type="${xml(type)}" message="${xml(text.slice(0, 500))}">${xml(text)}</${kind}>\n</testcase>\n`
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
}

/** Escapes text. XML cannot express most control characters, so they become U+FFFD. */
const xml = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replaceAll(/[&<>"\n]/g, (sign) => entities[sign] ?? sign)
