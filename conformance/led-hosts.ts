/** Leads connections to hosts of the outside to servers of this machine. The requests stay as they are. */
import { connect } from 'node:net'
import type { buildConnector } from 'undici'
import {
  Agent,
  buildConnector as connectorOf,
  getGlobalDispatcher,
  setGlobalDispatcher,
} from 'undici'

/** `hosts`: URLs of servers on loopback, by hosts. TLS ends nowhere: what is meant for https comes in the clear. */
export function leadHosts(
  hosts: Readonly<Record<string, string>>,
): { hosts: string[] } & Disposable {
  const before = getGlobalDispatcher()
  const asked: string[] = []
  const usual = connectorOf({})
  const led: buildConnector.connector = (target, callback) => {
    const to = hosts[target.hostname]
    if (to === undefined) return usual(target, callback)
    asked.push(target.hostname)
    const { hostname, port } = new URL(to)
    const socket = connect(Number(port), hostname)
    socket.once('connect', () => callback(null, socket))
    socket.once('error', (error) => callback(error, null))
  }
  const agent = new Agent({ connect: led })
  setGlobalDispatcher(agent)
  return {
    hosts: asked,
    [Symbol.dispose]() {
      setGlobalDispatcher(before)
      void agent.close()
    },
  }
}
