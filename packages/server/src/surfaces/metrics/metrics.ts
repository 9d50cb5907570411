/** Metrics of this process in the format of Prometheus. [http/metrics] */
import { listenWith } from '@steward/base/observation.ts'
import type library from 'prom-client'
import type { Registry } from 'prom-client'
import { modelRequestEnded } from '@steward/model/observed-model.ts'
import { toolCallEnded } from '@steward/harness/observations.ts'
import { isMcpName } from '@steward/harness/tools/mcp/names.ts'
import { toolsetTools } from '@steward/protocol/tools.ts'
import { evaluationEnded, turnEnded } from '../../engine/runner/observations.ts'
import { jobRan } from '../../ground/core/time/jobs.ts'
import type { Share } from '../../ground/core/fairness/share.ts'
import { unitWritten } from '../../ground/database/observed-database.ts'
import { requestAnswered } from '../../ground/http/request-observations.ts'
import { connectionRefused } from '../../ground/http/connections.ts'
import { requestLimited } from '../../ground/http/limit-observation.ts'
import { recordsSent } from '../otlp/collector.ts'
import { deliveryAttempted } from '../../tenants/webhooks/delivery-attempts.ts'

/** A metric with its series. `metricName` tells the parts of a histogram. */
export type MetricValues = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number]

export type Metrics = {
  contentType: string
  text(): Promise<string>
  values(): Promise<MetricValues[]>
  /** Stops counting. */
  close(): void
}

/** Bounds of histograms in seconds: answers take milliseconds, turns take minutes. */
const quick = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const slow = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800]

/**
 * Gauges of the library whose names end in `_total`, which Prometheus reserves for counters. Each of them has a twin by
 * type.
 */
const misnamed = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`)

/**
 * The most models with a label of their own: workspaces choose names freely. Further models and models with longer
 * names are counted together.
 */
const mostModels = 200
const longestModel = 256

type MetricsLibrary = typeof library
type ListenToMetrics = ReturnType<typeof listenWith>
type Instruments = ReturnType<typeof instrumentsOf>

/** Makes counters, gauges and histograms with the names of this project. */
function instrumentsOf(library: MetricsLibrary, registers: Registry[]) {
  const counter = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new library.Counter({ name: `steward_${name}_total`, help, labelNames, registers })
  const histogram = <Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    buckets: number[],
  ) =>
    new library.Histogram({ name: `steward_${name}_seconds`, help, labelNames, buckets, registers })
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[]) =>
    new library.Gauge({ name: `steward_${name}`, help, labelNames, registers })
  return { counter, gauge, histogram }
}

/** Counts turns and evaluations of outcomes. Returns functions that stop the counting. */
function countTurns({ counter, histogram }: Instruments, listen: ListenToMetrics) {
  const turns = counter('turns', 'Turns that ended here.', ['stop_reason'])
  const turnSeconds = histogram('turn_duration', 'Turns, to the commit of their end.', [], slow)
  const evaluations = counter('outcome_evaluations', 'Evaluations that ended here.', ['result'])
  const evaluationSeconds = histogram('outcome_evaluation_duration', 'Evaluations.', [], slow)
  return [
    listen(turnEnded, ({ stop, ms }) => {
      turns.inc({ stop_reason: stop })
      turnSeconds.observe(ms / 1_000)
    }),
    listen(evaluationEnded, ({ result, ms }) => {
      evaluations.inc({ result })
      evaluationSeconds.observe(ms / 1_000)
    }),
  ]
}

/** Counts requests to models and their tokens. Returns a function that stops the counting. */
function countModels({ counter, histogram }: Instruments, listen: ListenToMetrics) {
  const modelLabels = boundedModels()
  const models = counter('model_requests', 'Requests to models.', ['provider', 'model', 'outcome'])
  const modelSeconds = histogram('model_request_duration', 'Requests to models.', [], slow)
  const firstSeconds = histogram(
    'model_first_chunk',
    'From a request to a model to the first piece of its answer.',
    [],
    slow,
  )
  const tokens = counter('model_tokens', 'Tokens as providers count them.', ['direction'])
  return listen(modelRequestEnded, ({ provider, model, outcome, usage, ms, firstMs }) => {
    models.inc({ ...modelLabels(provider, model), outcome })
    modelSeconds.observe(ms / 1_000)
    if (firstMs !== undefined) firstSeconds.observe(firstMs / 1_000)
    tokens.inc({ direction: 'input' }, usage.input_tokens)
    tokens.inc({ direction: 'output' }, usage.output_tokens)
    tokens.inc({ direction: 'cache_read' }, usage.cache_read_input_tokens)
    tokens.inc({ direction: 'cache_write' }, usage.cache_creation_input_tokens)
  })
}

/** Counts runs of periodic jobs. Returns a function that stops the counting. */
function countJobs({ counter, gauge }: Instruments, listen: ListenToMetrics) {
  const runs = counter('job_runs', 'Runs of periodic jobs that ended.', ['job', 'outcome'])
  const ends = gauge(
    'job_last_run_timestamp_seconds',
    'When the last run of a job ended, failed or not, in seconds since the epoch.',
    ['job'],
  )
  return listen(jobRan, ({ job, at, ms, failed }) => {
    runs.inc({ job, outcome: failed ? 'failed' : 'ok' })
    ends.set({ job }, (at + ms) / 1_000)
  })
}

/**
 * `shares`: the resources that tenants share in this process, by name. `failed` is called when a count fails. The
 * library is loaded here, so that servers without metrics never load it.
 */
export async function createMetrics(
  shares: Readonly<Record<string, Share>>,
  failed: (error: unknown) => void,
): Promise<Metrics> {
  const listen = listenWith(failed)
  const library = await import('prom-client')
  const registry = new library.Registry()
  const registers = [registry]
  library.collectDefaultMetrics({ register: registry })
  for (const name of misnamed) registry.removeSingleMetric(name)
  const instruments = instrumentsOf(library, registers)
  const { counter, histogram } = instruments

  const requests = counter('http_requests', 'Requests answered.', ['route', 'method', 'status'])
  const requestSeconds = histogram(
    'http_request_duration',
    'From the head of a request to the end of its answer; event streams excepted.',
    ['route', 'method'],
    quick,
  )
  const calls = counter('tool_calls', 'Tool calls that ran here.', ['tool', 'outcome'])
  const callSeconds = histogram('tool_call_duration', 'Tool calls that ran here.', ['tool'], slow)
  const units = histogram('db_write', 'Writing units, to their durable commit.', [], quick)
  const limited = counter('rate_limited', 'Requests and attempts that a rate limit refused.', [
    'class',
  ])
  const connections = counter(
    'connections_refused',
    'Connections that were ended because there was one too many.',
    [],
  )
  const telemetry = counter('telemetry_records', 'Records for the collector of OpenTelemetry.', [
    'signal',
    'outcome',
  ])
  const deliveries = counter('webhook_attempts', 'Attempts to deliver webhooks.', ['outcome'])
  for (const state of ['held', 'waiting', 'total'] as const) gaugeOfSlots(state)

  function gaugeOfSlots(state: 'held' | 'waiting' | 'total'): void {
    const help = {
      held: 'Places that workspaces hold, of what this process has of a kind.',
      waiting: 'Those who wait for a place.',
      total: 'Places there are.',
    }
    const gauge = new library.Gauge({
      name: `steward_places_${state === 'total' ? 'limit' : state}`,
      help: help[state],
      labelNames: ['kind'],
      registers,
      collect() {
        for (const [kind, share] of Object.entries(shares))
          gauge.set({ kind }, share.slots()[state])
      },
    })
  }

  const listening = [
    listen(requestAnswered, ({ route = 'none', method: given, status, ms, isStream }) => {
      const method = httpMethods.has(given) ? given : 'other'
      requests.inc({ route, method, status })
      if (!isStream) requestSeconds.observe({ route, method }, ms / 1_000)
    }),
    ...countTurns(instruments, listen),
    countJobs(instruments, listen),
    countModels(instruments, listen),
    listen(connectionRefused, () => connections.inc()),
    listen(toolCallEnded, ({ tool: name, isError, ms }) => {
      const tool = toolLabel(name)
      calls.inc({ tool, outcome: isError ? 'error' : 'ok' })
      callSeconds.observe({ tool }, ms / 1_000)
    }),
    listen(unitWritten, ({ ms }) => units.observe(ms / 1_000)),
    listen(requestLimited, ({ of }) => limited.inc({ class: of })),
    listen(recordsSent, ({ signal, outcome, records: sent }) =>
      telemetry.inc({ signal, outcome }, sent),
    ),
    listen(deliveryAttempted, ({ outcome }) => deliveries.inc({ outcome })),
  ]
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    values: () => registry.getMetricsAsJSON(),
    close() {
      for (const stop of listening) stop()
      registry.clear()
    },
  }
}

function boundedModels(): (provider: string, model: string) => { provider: string; model: string } {
  const known = new Set<string>()
  return (provider, model) => {
    const key = `${provider} ${model}`
    if (known.size < mostModels && model.length <= longestModel) known.add(key)
    return known.has(key) ? { provider, model } : { provider: 'other', model: 'other' }
  }
}

/** The known methods; a caller may send any word as its method. */
const httpMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

const ownTools: ReadonlySet<string> = new Set(toolsetTools)

/** Counts all MCP tools as one, and all custom tools as one: workspaces choose their names freely. */
function toolLabel(name: string): string {
  if (ownTools.has(name)) return name
  return isMcpName(name) ? 'mcp' : 'custom'
}
