/**
 * Values by tenant, each for as long as somebody holds it. While one is held there is no other of its tenant, and what
 * nobody holds costs nothing: memory does not grow with the tenants that were ever there.
 */
export function createWeakValues<Value extends WeakKey>() {
  const refs = new Map<string, WeakRef<Value>>()
  const collected = new FinalizationRegistry<string>((tenant) => {
    // The tenant may have another value by now.
    if (refs.get(tenant)?.deref() === undefined) refs.delete(tenant)
  })
  const held = new Set<Value>()
  return {
    /** Holds the value until the work has ended, so that nobody makes another one meanwhile. */
    async hold(this: void, value: Value, work: () => Promise<void>): Promise<void> {
      held.add(value)
      await work().finally(() => held.delete(value))
    },
    get: (tenant: string): Value | undefined => refs.get(tenant)?.deref(),
    set(tenant: string, value: Value): void {
      refs.set(tenant, new WeakRef(value))
      collected.register(value, tenant)
    },
    all: (): Value[] => [...refs.values()].flatMap((ref) => ref.deref() ?? []),
  }
}
