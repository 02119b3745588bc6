import { type RefObject, useEffect, useRef, useState } from 'react';

/** Returns a ref, and whether its element has been visible. A row of a long list then loads its data only if needed. */
export function useSeen<T extends Element>(): [ref: RefObject<T | null>, isSeen: boolean] {
  const ref = useRef<T>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (ref.current === null) return;
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      setSeen(true);
      observer.disconnect();
    });
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  return [ref, isSeen];
}
