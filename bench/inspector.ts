/** Reads the memory use and the CPU profile of a server that was started with `--inspect`. */
import type { CpuProfile } from './profile.ts'

type Answer = { id: number; result: { result?: { value?: unknown }; profile?: CpuProfile } }

export type Memory = { rss: number; heapUsed: number; heapTotal: number; external: number }

const sampleMicroseconds = 500

export async function inspector(port: number) {
  const listed = await fetch(`http://127.0.0.1:${port}/json/list`)
  const [target] = (await listed.json()) as { webSocketDebuggerUrl: string }[]
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '')
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }))
  const waiting = new Map<number, (answer: Answer) => void>()
  let asked = 0
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  const ask = (method: string, params: object = {}): Promise<Answer> =>
    new Promise((resolve) => {
      const id = ++asked
      waiting.set(id, resolve)
      socket.send(JSON.stringify({ id, method, params }))
    })
  return {
    async memory(): Promise<Memory> {
      const expression = 'process.memoryUsage()'
      const { result } = await ask('Runtime.evaluate', { expression, returnByValue: true })
      return result.result?.value as Memory
    },
    collect: () => ask('HeapProfiler.collectGarbage'),
    async startProfile(): Promise<void> {
      await ask('Profiler.enable')
      await ask('Profiler.setSamplingInterval', { interval: sampleMicroseconds })
      await ask('Profiler.start')
    },
    async stopProfile(): Promise<CpuProfile> {
      const { result } = await ask('Profiler.stop')
      if (!result.profile) throw new Error('the server gave no profile')
      return result.profile
    },
    close: () => socket.close(),
  }
}
