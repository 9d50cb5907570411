/** The dialers of all connections that leave this process. They are guarded, unless a test overrides names. */
import type { Duplex } from 'node:stream'
import type { buildConnector, Dispatcher } from 'undici'
import { setGlobalDispatcher } from '../ground/core/security/undici.ts'
import type { Config } from '../ground/config/config.ts'
import type { Connector, Dial, Guard, Namer } from '../ground/core/security/dial.ts'
import {
  dialsFor,
  guardedAgent,
  guardedConnector,
  guardedDial,
  guardedDispatcher,
  operatorGuard,
  tenantGuard,
} from '../ground/core/security/dial.ts'
import { identityDispatcher } from '../ground/core/security/identity-dispatcher.ts'
import { createProxies } from '../ground/core/security/proxies.ts'
import type { Log } from '@steward/base/log.ts'
import type { Clock } from '@steward/base/time.ts'
import type { UpstreamPool } from '../engine/egress/inject/upstream.ts'
import { createUpstream } from '../engine/egress/inject/upstream.ts'
import { refusedAddresses } from './refused-addresses.ts'

/** The connector and the dial of a test, for names that no resolver knows. */
export type NameOverride = {
  connect: buildConnector.connector
  dial: (target: { host: string; port: number }) => Promise<Duplex>
}

export type Dialler<Whose extends Namer> = { connect: Connector<Whose>; dial: Dial<Whose, Duplex> }
export type Diallers = {
  operator: Dialler<'operator'> & { agent: Dispatcher }
  tenant: Dialler<'tenant'>
}

/** Also guards every later `fetch` of this process. */
export function createDiallers(
  { egressAllowPrivate, egressTenantTargets, modelSilenceMs, outgoing }: Config,
  { log, clock }: { log: Log; clock: Clock },
  elsewhere: NameOverride | undefined,
): Diallers {
  const told = refusedAddresses(log, clock)
  const proxies = createProxies(outgoing)
  const operator = operatorGuard(egressAllowPrivate, told('operator'), proxies)
  const tenant = tenantGuard(egressTenantTargets, told('tenant'), proxies)
  const usual = guardedDispatcher({ operator, tenant }, modelSilenceMs)
  setGlobalDispatcher(identityDispatcher(operator, usual))
  return {
    operator: { ...diallerOf(operator, elsewhere), agent: guardedAgent(operator) },
    tenant: diallerOf(tenant, elsewhere),
  }
}

/** Connections to models whose answers are passed on as they come. */
export function createUpstreams({ operator, tenant }: Diallers, { modelSilenceMs }: Config) {
  const patience = { patienceMs: modelSilenceMs, idleMs: modelSilenceMs }
  const both: UpstreamPool = {
    operator: createUpstream(operator.connect, patience),
    tenant: createUpstream(tenant.connect, patience),
  }
  return {
    ...both,
    close: async () => void (await Promise.all([both.operator.close(), both.tenant.close()])),
  }
}

const diallerOf = <Whose extends Namer>(
  guard: Guard<Whose>,
  elsewhere: NameOverride | undefined,
): Dialler<Whose> => ({
  connect: elsewhere
    ? dialsFor(guard.namer, elsewhere.connect)
    : guardedConnector(guard, { allowH2: false }),
  dial: dialsFor(guard.namer, elsewhere?.dial ?? ((target) => guardedDial(guard, target))),
})
