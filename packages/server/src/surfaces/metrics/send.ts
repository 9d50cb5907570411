/** Sends the metrics that Prometheus reads, by the same names, to a collector of OpenTelemetry. [http/metrics/otlp] */
import type { Log } from '@steward/base/log.ts'
import type { HrTime } from '@opentelemetry/api'
import type * as sdk from '@opentelemetry/sdk-metrics'
import type { Collector } from '../otlp/collector.ts'
import { closeSoon, exporterOptions, openOtlp, signalQueue } from '../otlp/collector.ts'
import type { MetricValues, Metrics } from './metrics.ts'

type MetricsSdk = typeof sdk
type Point = MetricValues['values'][number]

const timeOf = (ms: number): HrTime => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1e6)]

/** Labels without the bound of a bucket, as a text that is the same for the same labels. */
function seriesOf({ labels: { le: _, quantile: __, ...labels } }: Point) {
  const attributes = Object.fromEntries(
    Object.entries(labels).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
  return {
    attributes,
    key: JSON.stringify(Object.entries(attributes).toSorted(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** The library tells the parts of a histogram by a name that its types lack. */
const partOf = (point: Point): unknown => ('metricName' in point ? point.metricName : undefined)

/** The series of a histogram: counts of Prometheus are sums over the buckets below, and those of OpenTelemetry are not. */
function histogramPoints({ name, values }: MetricValues) {
  const series = new Map<
    string,
    {
      attributes: Record<string, string | number>
      bounds: number[]
      sums: number[]
      sum: number
      count: number
    }
  >()
  for (const point of values) {
    const { attributes, key } = seriesOf(point)
    const of = series.get(key) ?? { attributes, bounds: [], sums: [], sum: 0, count: 0 }
    series.set(key, of)
    const part = partOf(point)
    if (part === `${name}_sum`) of.sum = point.value
    else if (part === `${name}_count`) of.count = point.value
    else {
      const bound = Number(point.labels.le)
      if (Number.isFinite(bound)) {
        of.bounds.push(bound)
        of.sums.push(point.value)
      }
    }
  }
  return [...series.values()].map(({ attributes, bounds, sums, sum, count }) => ({
    attributes,
    value: {
      buckets: {
        boundaries: bounds,
        counts: [...sums, count].map((total, at) => total - (sums[at - 1] ?? 0)),
      },
      sum,
      count,
    },
  }))
}

type SeriesTimes = { startTime: HrTime; endTime: HrTime }

function dataOf(library: MetricsSdk, metric: MetricValues, times: SeriesTimes): sdk.MetricData {
  const { AggregationTemporality, DataPointType } = library
  const aggregationTemporality = AggregationTemporality.CUMULATIVE
  // Units stand in the names, as Prometheus has them.
  const descriptor = { name: metric.name, description: metric.help, unit: '', valueType: 1 }
  const kind = String(metric.type)
  if (kind === 'histogram')
    return {
      descriptor,
      aggregationTemporality,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: histogramPoints(metric).map((point) => ({ ...point, ...times })),
    }
  const dataPoints = metric.values.map((point) => ({
    ...times,
    attributes: seriesOf(point).attributes,
    value: point.value,
  }))
  return kind === 'counter'
    ? {
        descriptor,
        aggregationTemporality,
        dataPointType: DataPointType.SUM,
        isMonotonic: true,
        dataPoints,
      }
    : { descriptor, aggregationTemporality, dataPointType: DataPointType.GAUGE, dataPoints }
}

/** Loads the libraries, so that servers whose metrics are only read never load them. */
export async function sendMetrics(
  metrics: Pick<Metrics, 'values'>,
  { log, collector, everyMs }: { log: Log; collector: Collector; everyMs: number },
): Promise<{ close(): Promise<void> }> {
  const [{ resource, warn }, library, { OTLPMetricExporter }] = await Promise.all([
    openOtlp(log, 'metrics', collector),
    import('@opentelemetry/sdk-metrics'),
    import('@opentelemetry/exporter-metrics-otlp-http'),
  ])
  const queue = signalQueue('metrics', log)
  const exporter = queue.watch(
    new OTLPMetricExporter(exporterOptions(collector)),
    ({ scopeMetrics }: sdk.ResourceMetrics) =>
      scopeMetrics.reduce((sum, scope) => sum + scope.metrics.length, 0),
  )
  const startTime = timeOf(Date.now())
  const producer: sdk.MetricProducer = {
    async collect() {
      const times = { startTime, endTime: timeOf(Date.now()) }
      const values = await metrics.values()
      const scopeMetrics = [
        {
          scope: { name: 'steward' },
          metrics: values.map((metric) => dataOf(library, metric, times)),
        },
      ]
      return { resourceMetrics: { resource, scopeMetrics }, errors: [] }
    },
  }
  const reader = new library.PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: everyMs,
    exportTimeoutMillis: Math.min(everyMs, 10_000),
    metricProducers: [producer],
  })
  const provider = new library.MeterProvider({ resource, readers: [reader] })
  return { close: () => closeSoon(() => provider.shutdown(), warn) }
}
