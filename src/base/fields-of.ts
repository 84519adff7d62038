/** A copy of an object that can be spread: with the fields that its class looks up when they are asked for. */
export function fieldsOf<Found extends object>(object: Found): Found {
  const fields: Partial<Found> = {};
  for (const name in object) fields[name] = object[name];
  return fields as Found;
}
