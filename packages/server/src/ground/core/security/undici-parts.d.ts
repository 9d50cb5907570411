/** The files of undici that undici.ts loads: the package describes only what its index exports. */
declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici'
  export default Agent
}

declare module 'undici/lib/core/connect.js' {
  import { buildConnector } from 'undici'
  export default buildConnector
}

declare module 'undici/lib/global.js' {
  import type { getGlobalDispatcher, setGlobalDispatcher } from 'undici'
  const global: {
    getGlobalDispatcher: typeof getGlobalDispatcher
    setGlobalDispatcher: typeof setGlobalDispatcher
  }
  export default global
}

declare module 'undici/lib/api/index.js' {
  import type { Dispatcher } from 'undici'
  const api: {
    request(this: Dispatcher, options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>
  }
  export default api
}
