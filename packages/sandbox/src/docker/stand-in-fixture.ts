/** For tests: an engine's socket that can be cut. Callers lose their connections, and the engine's ends stay open. */
import { once } from 'node:events'
import type { Server, Socket } from 'node:net'
import { connect, createServer } from 'node:net'

export type StandIn = AsyncDisposable & {
  socket: string
  cut(): Promise<void>
  mend(): Promise<void>
}

/** Behaves like an engine that restarts while its containers live on. */
export async function standIn(socket: string, engine: string): Promise<StandIn> {
  const callers = new Set<Socket>()
  const ends = new Set<Socket>()
  let server: Server | undefined

  async function mend(): Promise<void> {
    server = createServer({ allowHalfOpen: true }, (caller) => {
      const end = connect({ path: engine, allowHalfOpen: true })
      callers.add(caller)
      ends.add(end)
      caller.on('error', () => {}).on('close', () => callers.delete(caller))
      end.on('error', () => caller.destroy()).on('close', () => ends.delete(end))
      caller.pipe(end).pipe(caller)
    })
    await once(server.listen(socket), 'listening')
  }
  async function cut(): Promise<void> {
    const closed = server && once(server.close(), 'close')
    for (const caller of callers) caller.destroy()
    await closed
  }
  await mend()
  return {
    ...{ socket, cut, mend },
    async [Symbol.asyncDispose]() {
      for (const end of ends) end.destroy()
      await cut()
    },
  }
}
