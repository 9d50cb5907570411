/** A value once it has not changed for a while: what is asked for each letter waits for the last one. */
import { useEffect, useState } from 'react'

const waitMs = 400

export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), waitMs)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
