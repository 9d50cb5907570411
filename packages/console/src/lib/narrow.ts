/** Whether there is little room. What only looks different there is a matter of style; this is for what stands elsewhere. */
import { useSyncExternalStore } from 'react'

const phone = matchMedia('(max-width: 599.98px)')

const subscribe = (listener: () => void) => {
  phone.addEventListener('change', listener)
  return () => phone.removeEventListener('change', listener)
}

export const useIsPhone = (): boolean => useSyncExternalStore(subscribe, () => phone.matches)
