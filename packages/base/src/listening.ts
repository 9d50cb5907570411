import { toUrlHost } from './url-host.ts'

/** Names the setting of a port that cannot be listened on: several ports of one process may be meant. */
export async function explainListenFailure<T>(setting: string, listening: Promise<T>): Promise<T> {
  try {
    return await listening
  } catch (error) {
    const { syscall, code, address, port, message } = error as NodeJS.ErrnoException & {
      address?: string
      port?: number
    }
    if (syscall !== 'listen') throw error
    const authority = `${toUrlHost(address ?? '')}:${port}`
    throw new Error(
      code === 'EADDRINUSE'
        ? `${setting}: another program listens on ${authority}: choose another port, or stop that program, which ss -ltnp shows`
        : `${setting}: ${authority} cannot be listened on: ${message}`,
      { cause: error },
    )
  }
}
