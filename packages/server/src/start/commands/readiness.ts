/** What the server of an address says of itself, for commands on its machine. */
import { toUrlHost } from '@steward/base/url-host.ts'
import { z } from 'zod'
import { exitWithLines, printLine, readSettingsOrExit } from './command-line.ts'

/**
 * The address to ask. Attack: `localhost` may be `::1`, where another account can listen beside a server that listens
 * on IPv4 alone.
 */
export function hostToOpen(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return toUrlHost(host === '::' ? '::1' : host)
}

type ServerState =
  | { state: 'ready' | 'stopping' | 'none' }
  /** `why`: what the server answered. */
  | { state: 'unready'; why: string }

const answerMs = 5_000
/** What a server of this program answers, ready or not. */
const Answer = z.looseObject({ ok: z.boolean(), version: z.string() })

/** `none`: no server answers there in time, or another program does. */
export async function readReadiness(base: string): Promise<ServerState> {
  const signal = AbortSignal.timeout(answerMs)
  const response = await fetch(`${base}/readyz`, { signal }).catch(() => undefined)
  const why = (await response?.text().catch(() => '')) ?? ''
  if (!Answer.safeParse(parseAnswer(why)).success) return { state: 'none' }
  if (response?.ok) return { state: 'ready' }
  return /"stopping":true/.test(why) ? { state: 'stopping' } : { state: 'unready', why }
}

function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Exits with 1 unless the server that has these settings is ready, as a health check of a container asks. */
export async function readyCommand(): Promise<void> {
  const { host, port } = await readSettingsOrExit()
  const base = `http://${hostToOpen(host)}:${port}`
  const readiness = await readReadiness(base)
  if (readiness.state === 'ready') return void printLine(`ready: ${base}`)
  const why = readiness.state === 'unready' ? `: ${readiness.why}` : ''
  const said = { none: 'no server answers', stopping: 'stopping', unready: 'not ready' } as const
  exitWithLines([`${said[readiness.state]}: ${base}${why}`])
}
