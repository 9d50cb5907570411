/**
 * The parts of undici that a server needs. Its index loads as many files again as a third of the server has: its own `fetch`, mocks,
 * caches and event streams. Without them a server starts sooner and is smaller.
 */
import type { Dispatcher } from 'undici'
import api from 'undici/lib/api/index.js'
import buildConnector from 'undici/lib/core/connect.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import global from 'undici/lib/global.js'

export { Agent, buildConnector }
export const { setGlobalDispatcher } = global

type RequestOptions = Omit<Dispatcher.RequestOptions, 'origin' | 'path' | 'method'> & {
  method?: Dispatcher.HttpMethod
  /** That of all `fetch` of this process unless given. */
  dispatcher?: Dispatcher
}

/** As undici's own, but that no method is guessed from a body. */
export function request(
  url: string | URL,
  { dispatcher = global.getGlobalDispatcher(), method = 'GET', ...options }: RequestOptions,
): Promise<Dispatcher.ResponseData> {
  const { origin, pathname, search } = new URL(url)
  return api.request.call(dispatcher, { ...options, method, origin, path: pathname + search })
}
