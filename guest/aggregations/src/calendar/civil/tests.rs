//! Comparison with jiff's calendar for every day from 1600 to 2400.

use super::*;

#[test]
fn every_day_is_the_one_that_jiff_says() {
    let mut date = jiff::civil::date(1600, 1, 1);
    let mut days = i64::from((date - jiff::civil::date(1970, 1, 1)).get_days());
    while date.year() < 2400 {
        let civil = Civil::from_days(days);
        let expect = (
            i64::from(date.year()),
            i64::from(date.month()),
            i64::from(date.day()),
        );
        assert_eq!((civil.year, civil.month, civil.day), expect);
        assert_eq!(civil.to_days(), days);
        assert_eq!(
            days_in_month(civil.year, civil.month),
            i64::from(date.days_in_month())
        );
        assert_eq!(
            weekday(days),
            i64::from(date.weekday().to_monday_one_offset())
        );
        let week = date.iso_week_date();
        assert_eq!(
            iso_week(days),
            (i64::from(week.year()), i64::from(week.week()))
        );
        let monday = iso_week_start(i64::from(week.year()), i64::from(week.week()));
        assert_eq!(monday, Some(days - weekday(days) + 1));
        date = date.tomorrow().unwrap();
        days += 1;
    }
}

#[test]
fn weeks_and_days_that_do_not_exist_are_none() {
    assert_eq!(iso_week_start(2021, 53), None);
    assert!(iso_week_start(2020, 53).is_some());
    assert_eq!(iso_week_start(2020, 0), None);
    assert_eq!(Civil::checked(2023, 2, 29), None);
    assert_eq!(Civil::checked(2023, 13, 1), None);
    assert_eq!(Civil::checked(2023, 4, 31), None);
    assert!(Civil::checked(2024, 2, 29).is_some());
}

#[test]
fn months_are_added_to_the_last_day_that_exists() {
    let plus = |months| {
        Civil {
            year: 2024,
            month: 1,
            day: 31,
        }
        .plus_months(months)
    };
    assert_eq!(
        plus(1),
        Civil {
            year: 2024,
            month: 2,
            day: 29
        }
    );
    assert_eq!(
        plus(-2),
        Civil {
            year: 2023,
            month: 11,
            day: 30
        }
    );
    assert_eq!(
        plus(-13),
        Civil {
            year: 2022,
            month: 12,
            day: 31
        }
    );
}
