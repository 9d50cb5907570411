/** A value once it has not changed for a while: what is asked for each letter waits for the last one. */
import { useEffect, useState } from 'react'

const usualMs = 400

export function useSettled<T>(value: T, waitMs = usualMs): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), waitMs)
    return () => clearTimeout(timer)
  }, [value, waitMs])
  return settled
}
