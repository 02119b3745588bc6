import { germanField, germanHeadline } from './de-faults';

describe('germanField', () => {
  it.each([
    ['is required', 'ist erforderlich'],
    ['must be a string', 'muss ein Text sein'],
    ['must be a whole number or null', 'muss eine ganze Zahl oder null sein'],
    ['must be true or false', 'muss true oder false sein'],
    ['must be one of https, mirror', 'muss einer dieser Werte sein: https, mirror'],
    ['must have at most 200 characters', 'darf höchstens 200 Zeichen haben'],
    ['must have at most 50 entries, and has 51', 'darf höchstens 50 Einträge haben'],
    ['must be at least 0.001', 'muss mindestens 0.001 sein'],
    ['must be a region, like eu-west-1', 'must be a region, like eu-west-1'],
  ])('%s', (message, german) => {
    expect(germanField(message)).toBe(german);
  });
});

describe('germanHeadline', () => {
  it.each([
    ['validation_failed', 'Die Eingaben sind noch nicht gültig.'],
    ['constructor', null],
    [undefined, null],
  ])('%s', (type, headline) => {
    expect(germanHeadline(type)).toBe(headline);
  });
});
