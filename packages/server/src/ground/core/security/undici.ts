/**
 * The parts of undici that a server needs. Its index also loads `fetch`, mocks, caches and event streams, a third as
 * many files as the whole server has. Without them a server starts sooner and is smaller.
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
  /** Default: the global dispatcher, which every `fetch` of this process uses. */
  dispatcher?: Dispatcher
}

/**
 * Like `request` of undici, except that a body does not change the method, whose default is GET, and that a body which is
 * destroyed unread fails for nobody. Attack: when all of a short body has come, undici makes its destruction an error
 * that no one listens to, and that ends the process.
 */
export async function sendRequest(
  url: string | URL,
  { dispatcher = global.getGlobalDispatcher(), method = 'GET', ...options }: RequestOptions,
): Promise<Dispatcher.ResponseData> {
  const { origin, pathname, search } = new URL(url)
  const asked = { ...options, method, origin, path: pathname + search }
  const answer = await api.request.call(dispatcher, asked)
  answer.body.on('error', () => {})
  return answer
}
