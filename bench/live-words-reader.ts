/** The reader of the case `liveWords`: another process, which reads some of the streams and tells what it has heard. */
import { openLiveWords } from './live-words-channel.ts'
import { median } from './figures.ts'

export type ReaderReport = { heard: number; delayMs: number; lateMs: number; cpuMs: number }

const [transport = 'direct', url = '', read = '0'] = process.argv.slice(2)
const channel = await openLiveWords(transport === 'nats' ? { nats: url } : 'direct')
const delays: number[] = []
for (let stream = 0; stream < Number(read); stream++)
  channel.subscribe(`stream:${stream}`, ({ at }) => void delays.push(Date.now() - Number(at)))
process.send?.({ ready: true })
let used = process.cpuUsage()
process.on('message', (asked: { begin?: true; report?: true; end?: true }) => {
  if (asked.begin) {
    delays.length = 0
    used = process.cpuUsage()
  }
  if (asked.report) {
    const { user, system } = process.cpuUsage(used)
    const sorted = delays.toSorted((a, b) => a - b)
    const report: ReaderReport = {
      heard: delays.length,
      delayMs: median(sorted),
      lateMs: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
      cpuMs: (user + system) / 1000,
    }
    process.send?.({ report })
  }
  if (asked.end) void channel.close().then(() => process.disconnect())
})
