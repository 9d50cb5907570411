/** What a server that was started with `--inspect` says of its own memory. */

type Answer = { id: number; result: { result?: { value?: unknown } } }

export type Memory = { rss: number; heapUsed: number; heapTotal: number; external: number }

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
    close: () => socket.close(),
  }
}
