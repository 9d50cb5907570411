/** What the server of an address says of itself, for commands on its machine. */
import { toUrlHost } from '@steward/base/url-host.ts'
import { exitWithLines, printLine, readConfigOrExit } from './command-line.ts'

/**
 * The address to ask. Attack: `localhost` may be `::1`, where another account can listen beside a server that listens
 * on IPv4 alone.
 */
export function hostToOpen(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return toUrlHost(host === '::' ? '::1' : host)
}

export type Readiness =
  | { state: 'ready' | 'stopping' | 'none' }
  /** `why`: what the server answered. */
  | { state: 'unready'; why: string }

/** `none`: no server answers there, or another program does. */
export async function readReadiness(base: string): Promise<Readiness> {
  const response = await fetch(`${base}/readyz`).catch(() => undefined)
  if (response?.ok) return { state: 'ready' }
  if (response?.status !== 503) return { state: 'none' }
  const why = await response.text()
  return /"stopping":true/.test(why) ? { state: 'stopping' } : { state: 'unready', why }
}

/** Exits with 1 unless the server that has these settings is ready, as a health check of a container asks. */
export async function readyCommand(): Promise<void> {
  const { host, port } = await readConfigOrExit()
  const base = `http://${hostToOpen(host)}:${port}`
  const readiness = await readReadiness(base)
  if (readiness.state === 'ready') return void printLine(`ready: ${base}`)
  const why = readiness.state === 'unready' ? `: ${readiness.why}` : ''
  const said = { none: 'no server answers', stopping: 'stopping', unready: 'not ready' } as const
  exitWithLines([`${said[readiness.state]}: ${base}${why}`])
}
